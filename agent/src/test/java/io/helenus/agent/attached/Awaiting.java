package io.helenus.agent.attached;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Polls until a condition holds. */
final class Awaiting {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

  private Awaiting() {}

  static <T> T until(Callable<T> look, Predicate<T> enough) throws Exception {
    long start = System.nanoTime();
    T seen = look.call();
    while (!enough.test(seen)) {
      if (System.nanoTime() - start > DEADLINE_NS) {
        throw new AssertionError("waited in vain; last seen: " + seen);
      }
      Thread.sleep(20);
      seen = look.call();
    }
    return seen;
  }
}
