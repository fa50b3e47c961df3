package io.helenus.agent.valves;

import io.helenus.agent.crossing.Crossings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Calls at a gate that nobody sees, before there are real ones.
 *
 * <p>The JVM compiles well what has been called thousands of times; until then a call costs ten
 * times as much. So whatever happens at a gate every day happens here first, new threads and long
 * stays, waits and failures: code is made without what has not been seen, and thrown away when it
 * comes.
 */
final class Rehearsal {
  private static final String NAME = "helenus-agent-rehearsal";
  private static final int ROUNDS = 8;

  /** Of a round; in the next there are new ones. */
  private static final int THREADS = 4;

  private static final int CALLS = 800;

  /** Where CPUs are scarce the requests rehearse the rest. */
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(1);

  /** One in so many finds no room, waits, and is let through or refused. */
  private static final int NO_ROOM_ONE_IN = 100;

  /** One in so many ends with an exception. */
  private static final int FAILS_ONE_IN = 70;

  /** One in so many stays for as long as is always timed. */
  private static final int LONG_ONE_IN = 16;

  private static final long STAY_NS = 3_000;
  private static final long WAIT_NS = 1_000;
  private static final RuntimeException REFUSAL = new RuntimeException("rehearsed");

  private final Crossings crossings;
  private final int number;
  private final Gate gate;

  private Rehearsal(Crossings crossings, Order order) {
    this.crossings = crossings;
    number = crossings.number();
    gate = new Gate(new Precedence(), 0, terms(false), new WaitingLine(order, new double[] {1}));
    crossings.site(number, gate.site(number, 0), null);
  }

  /** Takes a tenth of a second of CPU time. */
  static void hold(Crossings crossings) {
    Rehearsal overtaking = new Rehearsal(crossings, Order.FIFO);
    Rehearsal inTurn = new Rehearsal(crossings, Order.CLASS);
    long beganNs = System.nanoTime();
    try {
      for (int i = 0; i < ROUNDS && System.nanoTime() - beganNs < LONGEST_NS; i++) {
        (i % 2 == 0 ? overtaking : inTurn).round();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      crossings.site(overtaking.number, null, null);
      crossings.site(inTurn.number, null, null);
    }
  }

  private void round() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(this::calls, NAME);
      thread.setDaemon(true);
      thread.setContextClassLoader(null);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    crossings.forgetEndedThreads();
  }

  private void calls() {
    for (int call = 0; call < CALLS; call++) {
      boolean hasRoom = call % NO_ROOM_ONE_IN != 0;
      if (!hasRoom) {
        gate.terms(terms(call / NO_ROOM_ONE_IN % 2 == 0));
        gate.limit(0);
      }
      if (crossings.enter(number) == null) {
        if (call % LONG_ONE_IN == 0) {
          stay();
        }
        crossings.exit(call % FAILS_ONE_IN == 0 ? ~number : number);
      }
      if (!hasRoom) {
        gate.limit(Gate.OPEN);
      }
    }
  }

  private static void stay() {
    long beganNs = System.nanoTime();
    while (System.nanoTime() - beganNs < STAY_NS) {
      Thread.onSpinWait();
    }
  }

  private static Gate.Terms terms(boolean refuses) {
    return new Gate.Terms(WAIT_NS, refuses ? () -> REFUSAL : null);
  }
}
