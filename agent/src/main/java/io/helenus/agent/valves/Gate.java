package io.helenus.agent.valves;

import io.helenus.agent.crossing.Frame;
import io.helenus.agent.crossing.Site;
import io.helenus.agent.crossing.Traveller;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Limits how many threads are in a region at once; further threads wait before the region, up to a
 * longest time.
 *
 * <p>While stays are short, an arriving thread takes free room before waiting threads that are
 * still being woken. Otherwise the room would stay unused for longer than a short stay takes. While
 * stays are long, threads enter in turn: barging would gain nothing, and threads that return at
 * once would starve the waiting ones.
 *
 * <p>One word holds the numbers inside and waiting, so that each entry and each exit writes one
 * cache line once. A thread that is inside re-enters freely. A thread that holds a permit that
 * threads inside may wait for ({@link Precedence}) never waits here: it enters and is counted. A
 * thread that is interrupted while it waits enters, and stays interrupted.
 */
final class Gate {
  /** No limit at all. */
  static final int OPEN = Integer.MAX_VALUE;

  private static final long ONE_WAITING = 1L << 32;

  /** Far longer than waking a thread on a busy machine takes, ns. */
  private static final long LONG_STAY_NS = 1_000_000;

  /** In the middle of an array of its own, so that no neighbour's writes slow it. */
  private static final int OCCUPANCY = 16;

  /** The terms for calls that find no room. */
  static final class Terms {
    final long maxWaitNs;

    /** Makes the exception to refuse with after the longest wait; null to let through. */
    final Supplier<RuntimeException> refusal;

    Terms(long maxWaitNs, Supplier<RuntimeException> refusal) {
      this.maxWaitNs = maxWaitNs;
      this.refusal = refusal;
    }
  }

  private final AtomicLongArray occupancy = new AtomicLongArray(2 * OCCUPANCY);
  private final Queue<GateAccount> accounts = new ConcurrentLinkedQueue<>();
  private final long[] ended = new long[GateAccount.LENGTH];
  private final Precedence precedence;
  private final int place;
  private final long bit;
  private final WaitingLine line;

  /** Whether room is reserved for waiters until they are awake. */
  private volatile boolean inTurn;

  private long totalBeforeNs;
  private long leftBefore;
  private volatile int limit = OPEN;
  private volatile Terms terms;

  /**
   * @param place its own among the gates of the precedence
   */
  Gate(Precedence precedence, int place, Terms terms, WaitingLine line) {
    this.precedence = precedence;
    this.place = place;
    this.bit = 1L << place;
    this.terms = terms;
    this.line = line;
    this.inTurn = line.order() == Order.CLASS;
  }

  int limit() {
    return limit;
  }

  void limit(int limit) {
    this.limit = limit;
    line.callAll(room());
  }

  void terms(Terms terms) {
    this.terms = terms;
    // Woken waiters check their deadline again.
    line.callAll(OPEN);
  }

  int inside() {
    return (int) occupancy.get(OCCUPANCY);
  }

  int waiting() {
    return (int) (occupancy.get(OCCUPANCY) >>> 32);
  }

  private int room() {
    return Math.max(0, limit - inside());
  }

  /** The site of a point of the gate. */
  Site site(int number, int point) {
    return new Site() {
      @Override
      public RuntimeException enter(Traveller traveller, Frame frame) {
        return Gate.this.enter(traveller, frame, number, point);
      }

      @Override
      public void exit(Traveller traveller, Frame frame, boolean failed, long nowNs) {
        Gate.this.exit(traveller, frame, failed);
      }
    };
  }

  private RuntimeException enter(Traveller traveller, Frame frame, int number, int point) {
    if ((traveller.held & bit) != 0) {
      return null;
    }
    GateAccount account = (GateAccount) traveller.account(number);
    if (account == null) {
      account = new GateAccount(traveller.thread);
      traveller.account(number, account);
      accounts.add(account);
    }
    frame.account(account);
    frame.waitedNs = 0;
    if (!takePlace(inTurn)) {
      if (traveller.held != 0 && !precedence.mayWait(traveller.held, place)) {
        occupancy.getAndAdd(OCCUPANCY, 1);
        account.counts.add(GateAccount.OUT_OF_ORDER, 1);
      } else {
        RuntimeException refusal = await(account, frame, point);
        if (refusal != null) {
          return refusal;
        }
      }
    }
    traveller.held |= bit;
    frame.permit = true;
    frame.startNs = frame.waitedNs > 0 || account.times() ? System.nanoTime() : 0;
    return null;
  }

  private void exit(Traveller traveller, Frame frame, boolean failed) {
    if (!frame.permit) {
      return;
    }
    frame.permit = false;
    traveller.held &= ~bit;
    leave();
    GateAccount account = (GateAccount) frame.account();
    if (frame.startNs == 0) {
      account.leftUntimed();
    } else {
      account.left(frame.waitedNs, System.nanoTime() - frame.startNs);
    }
    account.counts.add(failed ? GateAccount.FAILED : GateAccount.COMPLETED, 1);
  }

  private boolean takePlace(boolean afterThoseWaiting) {
    long now = occupancy.get(OCCUPANCY);
    while ((int) now < limit && !(afterThoseWaiting && now >= ONE_WAITING)) {
      if (occupancy.compareAndSet(OCCUPANCY, now, now + 1)) {
        return true;
      }
      now = occupancy.get(OCCUPANCY);
    }
    return false;
  }

  private void leave() {
    long before = occupancy.getAndAdd(OCCUPANCY, -1);
    if (before >= ONE_WAITING) {
      int room = limit - ((int) before - 1);
      if (room > 0) {
        line.call(room);
      }
    }
  }

  /** Waits for a place and takes it; gives the exception when the call is refused. */
  private RuntimeException await(GateAccount account, Frame frame, int point) {
    WaitingLine.Waiter waiter = new WaitingLine.Waiter(Thread.currentThread(), point);
    long beganNs = System.nanoTime();
    line.add(waiter);
    // Threads that leave after this see the waiter; threads that left before have made room.
    boolean mayTry = occupancy.addAndGet(OCCUPANCY, ONE_WAITING) >>> 32 == 1;
    mayTry |= !inTurn;
    boolean in = false;
    try {
      while (true) {
        in = mayTry && takePlace(false);
        if (in) {
          return null;
        }
        Terms terms = this.terms;
        long leftNs = terms.maxWaitNs - (System.nanoTime() - beganNs);
        if (leftNs <= 0) {
          if (terms.refusal != null) {
            account.counts.add(GateAccount.REFUSED, 1);
            return terms.refusal.get();
          }
          account.counts.add(GateAccount.LET_THROUGH, 1);
        }
        if (leftNs <= 0 || Thread.currentThread().isInterrupted()) {
          occupancy.getAndAdd(OCCUPANCY, 1);
          in = true;
          return null;
        }
        LockSupport.parkNanos(this, leftNs);
        mayTry = line.answered(waiter);
      }
    } finally {
      occupancy.getAndAdd(OCCUPANCY, -ONE_WAITING);
      line.remove(waiter);
      frame.waitedNs = Math.max(1, System.nanoTime() - beganNs);
      // A call that this one did not use, or room for more than one.
      int room = room();
      if (room > 0) {
        line.call(room);
      }
    }
  }

  /** All that was counted since the gate began. For one reader at a time. */
  synchronized long[] read() {
    for (Iterator<GateAccount> i = accounts.iterator(); i.hasNext(); ) {
      GateAccount account = i.next();
      if (!account.thread.isAlive()) {
        add(account, ended);
        i.remove();
      }
    }
    long[] sums = ended.clone();
    accounts.forEach(account -> add(account, sums));
    look(sums);
    return sums;
  }

  /** Whether stays are long, by those that have ended since the last look. */
  private void look(long[] sums) {
    long left = sums[GateAccount.COMPLETED] + sums[GateAccount.FAILED];
    if (left > leftBefore && line.order() != Order.CLASS) {
      inTurn = (sums[GateAccount.TOTAL_NS] - totalBeforeNs) / (left - leftBefore) >= LONG_STAY_NS;
    }
    leftBefore = left;
    totalBeforeNs = sums[GateAccount.TOTAL_NS];
  }

  /** How many came out, or were sent away, since the gate began. */
  long passed() {
    long passed = ended[GateAccount.COMPLETED] + ended[GateAccount.FAILED];
    for (GateAccount account : accounts) {
      passed += account.counts.get(GateAccount.COMPLETED) + account.counts.get(GateAccount.FAILED);
    }
    return passed;
  }

  /** The stage whose threads come; null where that is not known. */
  Stage stage() {
    for (GateAccount account : accounts) {
      Stage stage = Stage.ofThread(account.threadName);
      if (stage != null) {
        return stage;
      }
    }
    return null;
  }

  private static void add(GateAccount account, long[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] += account.counts.get(i);
    }
  }
}
