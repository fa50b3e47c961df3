package io.helenus.agent.valves;

import io.helenus.agent.crossing.Crossings;
import java.util.function.Supplier;

/**
 * Calls at a gate that nobody sees, before there are real ones.
 *
 * <p>The JVM compiles well what has been called thousands of times. Where a thousand requests come
 * by in a second, and compilers have much else to do, that takes a minute, in which a call costs
 * microseconds. So all that may happen at a gate happens here first: what has never been seen is
 * left out of the code, which is thrown away when it comes.
 */
final class Rehearsal {
  private static final int CALLS = 200_000;

  /** One in so many finds no room, waits, and is let through or refused. */
  private static final int NO_ROOM_ONE_IN = 1 << 10;

  /** One in so many ends with an exception. */
  private static final int FAILS_ONE_IN = 1 << 7;

  private static final long WAIT_NS = 1_000;

  private Rehearsal() {}

  /** Takes some hundredths of a second of the calling thread. */
  static void hold(Crossings crossings) {
    RuntimeException refusal = new RuntimeException("rehearsed");
    Gate gate =
        new Gate(new Precedence(), 0, terms(null), new WaitingLine(Order.FIFO, new double[] {1}));
    int number = crossings.number();
    crossings.site(number, gate.site(number, 0), null);
    try {
      for (int call = 0; call < CALLS; call++) {
        boolean hasRoom = call % NO_ROOM_ONE_IN != 0;
        if (!hasRoom) {
          boolean refuses = call / NO_ROOM_ONE_IN % 2 == 0;
          gate.terms(terms(refuses ? () -> refusal : null));
          gate.limit(0);
        }
        if (crossings.enter(number) == null) {
          crossings.exit(call % FAILS_ONE_IN == 0 ? ~number : number);
        }
        if (!hasRoom) {
          gate.limit(Gate.OPEN);
        }
      }
    } finally {
      crossings.site(number, null, null);
    }
  }

  private static Gate.Terms terms(Supplier<RuntimeException> refusal) {
    return new Gate.Terms(WAIT_NS, refusal);
  }
}
