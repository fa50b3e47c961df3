package io.helenus.agent.valves;

import io.helenus.agent.dispatch.Frame;
import io.helenus.agent.dispatch.Interceptor;
import io.helenus.agent.dispatch.ThreadState;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A semaphore at the points of a valve: limits how many threads are inside at once. Further threads
 * wait, up to a longest time.
 *
 * <p>While calls are short the gate is unfair: an arriving thread takes free room before waiting
 * threads that are still being woken, because the room would stay unused for longer than a short
 * call takes. While calls are long the gate is fair: barging would gain nothing, and threads that
 * return at once would starve the waiting ones.
 *
 * <p>One word holds the numbers of threads inside and waiting, so that each entry and each exit
 * writes one cache line once. A thread that is inside re-enters freely. A thread never waits here
 * if it could deadlock with threads inside ({@link GateOrder}): it enters beyond the limit and is
 * counted. A thread that is interrupted while it waits enters, and stays interrupted.
 */
final class Gate {
  /** The limit that stands for no limit. */
  static final int OPEN = Integer.MAX_VALUE;

  private static final long ONE_WAITING = 1L << 32;

  /** Calls with at least this mean time are long, in ns; waking a thread takes far less. */
  private static final long LONG_NS = 1_000_000;

  /** Index of the word, in the middle of a padded array to avoid false sharing. */
  private static final int OCCUPANCY = 16;

  /** How long a call may wait, and what happens to it then. */
  static final class OverflowPolicy {
    final long maxWaitNs;

    /** Makes the exception to refuse with after the longest wait; null to let through. */
    final Supplier<RuntimeException> refusal;

    OverflowPolicy(long maxWaitNs, Supplier<RuntimeException> refusal) {
      this.maxWaitNs = maxWaitNs;
      this.refusal = refusal;
    }
  }

  private final AtomicLongArray occupancy = new AtomicLongArray(2 * OCCUPANCY);
  private final Queue<GateCounters> perThread = new ConcurrentLinkedQueue<>();
  private final long[] ended = new long[GateCounters.LENGTH];
  private final GateOrder gateOrder;
  private final int slot;
  private final long bit;
  private final WaitQueue queue;

  /** Whether waiting threads enter before arriving ones. */
  private volatile boolean isFair;

  private long totalBeforeNs;
  private long leftBefore;
  private volatile int limit = OPEN;
  private volatile OverflowPolicy policy;

  /**
   * @param slot the gate's slot in the order
   */
  Gate(GateOrder gateOrder, int slot, OverflowPolicy policy, WaitQueue queue) {
    this.gateOrder = gateOrder;
    this.slot = slot;
    this.bit = 1L << slot;
    this.policy = policy;
    this.queue = queue;
    this.isFair = queue.order() == Order.CLASS;
  }

  int limit() {
    return limit;
  }

  void limit(int limit) {
    this.limit = limit;
    queue.wakeAll(room());
  }

  void policy(OverflowPolicy policy) {
    this.policy = policy;
    // Woken waiters check their deadline again.
    queue.wakeAll(OPEN);
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

  /** Intercepts the calls of one of the points of the gate. */
  Interceptor interceptor(int number, int point) {
    return new Interceptor() {
      @Override
      public RuntimeException enter(ThreadState state, Frame frame) {
        return Gate.this.enter(state, frame, number, point);
      }

      @Override
      public void exit(ThreadState state, Frame frame, boolean failed, long nowNs) {
        Gate.this.exit(state, frame, failed);
      }
    };
  }

  private RuntimeException enter(ThreadState state, Frame frame, int number, int point) {
    if ((state.held & bit) != 0) {
      return null;
    }
    GateCounters counters = (GateCounters) state.counters(number);
    if (counters == null) {
      counters = new GateCounters(state.thread);
      state.counters(number, counters);
      perThread.add(counters);
    }
    frame.counters(counters);
    frame.waitedNs = 0;
    if (!tryEnter(isFair)) {
      if (state.held != 0 && !gateOrder.mayWait(state.held, slot)) {
        occupancy.getAndAdd(OCCUPANCY, 1);
        counters.values.add(GateCounters.OUT_OF_ORDER, 1);
      } else {
        RuntimeException refusal = await(counters, frame, point);
        if (refusal != null) {
          return refusal;
        }
      }
    }
    state.held |= bit;
    frame.permit = true;
    frame.startNs = frame.waitedNs > 0 || counters.isTimed() ? System.nanoTime() : 0;
    return null;
  }

  private void exit(ThreadState state, Frame frame, boolean failed) {
    if (!frame.permit) {
      return;
    }
    frame.permit = false;
    state.held &= ~bit;
    leave();
    GateCounters counters = (GateCounters) frame.counters();
    if (frame.startNs == 0) {
      counters.leftUntimed();
    } else {
      counters.left(frame.waitedNs, System.nanoTime() - frame.startNs);
    }
    counters.values.add(failed ? GateCounters.FAILED : GateCounters.COMPLETED, 1);
  }

  private boolean tryEnter(boolean waitersFirst) {
    long now = occupancy.get(OCCUPANCY);
    while ((int) now < limit && !(waitersFirst && now >= ONE_WAITING)) {
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
        queue.wake(room);
      }
    }
  }

  /** Waits for room and takes it. Returns the exception if the call is refused. */
  private RuntimeException await(GateCounters counters, Frame frame, int point) {
    WaitQueue.Waiter waiter = new WaitQueue.Waiter(Thread.currentThread(), point);
    long beganNs = System.nanoTime();
    queue.add(waiter);
    // Threads that leave after this see the waiter; threads that left before have already freed
    // their permits.
    boolean mayEnter = occupancy.addAndGet(OCCUPANCY, ONE_WAITING) >>> 32 == 1;
    mayEnter |= !isFair;
    boolean in = false;
    try {
      while (true) {
        in = mayEnter && tryEnter(false);
        if (in) {
          return null;
        }
        OverflowPolicy policy = this.policy;
        long leftNs = policy.maxWaitNs - (System.nanoTime() - beganNs);
        if (leftNs <= 0) {
          if (policy.refusal != null) {
            counters.values.add(GateCounters.REFUSED, 1);
            return policy.refusal.get();
          }
          counters.values.add(GateCounters.LET_THROUGH, 1);
        }
        if (leftNs <= 0 || Thread.currentThread().isInterrupted()) {
          occupancy.getAndAdd(OCCUPANCY, 1);
          in = true;
          return null;
        }
        LockSupport.parkNanos(this, leftNs);
        mayEnter = queue.takeWakeUp(waiter);
      }
    } finally {
      occupancy.getAndAdd(OCCUPANCY, -ONE_WAITING);
      queue.remove(waiter);
      frame.waitedNs = Math.max(1, System.nanoTime() - beganNs);
      // Pass on a wake-up that this thread did not use, or permits for more than one thread.
      int room = room();
      if (room > 0) {
        queue.wake(room);
      }
    }
  }

  /** The sums of all threads' counters since the gate began. For one reader at a time. */
  synchronized long[] read() {
    for (Iterator<GateCounters> i = perThread.iterator(); i.hasNext(); ) {
      GateCounters counters = i.next();
      if (!counters.thread.isAlive()) {
        add(counters, ended);
        i.remove();
      }
    }
    long[] sums = ended.clone();
    perThread.forEach(counters -> add(counters, sums));
    updateFairness(sums);
    return sums;
  }

  /** Makes the gate fair if the calls that ended since the last update were long. */
  private void updateFairness(long[] sums) {
    long left = sums[GateCounters.COMPLETED] + sums[GateCounters.FAILED];
    if (left > leftBefore && queue.order() != Order.CLASS) {
      isFair = (sums[GateCounters.TOTAL_NS] - totalBeforeNs) / (left - leftBefore) >= LONG_NS;
    }
    leftBefore = left;
    totalBeforeNs = sums[GateCounters.TOTAL_NS];
  }

  /** How many calls have left since the gate began. */
  long left() {
    long left = ended[GateCounters.COMPLETED] + ended[GateCounters.FAILED];
    for (GateCounters counters : perThread) {
      left +=
          counters.values.get(GateCounters.COMPLETED) + counters.values.get(GateCounters.FAILED);
    }
    return left;
  }

  /** The stage whose threads call; null if unknown. */
  Stage stage() {
    for (GateCounters counters : perThread) {
      Stage stage = Stage.ofThread(counters.threadName);
      if (stage != null) {
        return stage;
      }
    }
    return null;
  }

  private static void add(GateCounters counters, long[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] += counters.values.get(i);
    }
  }
}
