package io.helenus.agent.control;

import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.executors.Executors;
import io.helenus.agent.points.Refusal;
import java.util.function.BiPredicate;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/** Takes hold of the hook on the server's side, which this class loader only reaches by name. */
final class Bridge {
  private Bridge() {}

  /** False if another agent holds it. */
  static boolean hold(Class<?> hook, Crossings crossings, Executors executors) {
    IntFunction<RuntimeException> enter = crossings::enter;
    IntConsumer exit = crossings::exit;
    BiPredicate<Object, Integer> wanted = crossings::wanted;
    BiPredicate<Object, Object> take = executors::take;
    try {
      return (Boolean)
          hook.getMethod(
                  "hold",
                  IntFunction.class,
                  IntConsumer.class,
                  BiPredicate.class,
                  BiPredicate.class)
              .invoke(null, enter, exit, wanted, take);
    } catch (ReflectiveOperationException e) {
      throw new Refusal("the hook can't be held: " + e, "restart the server");
    }
  }

  static void release(Class<?> hook) {
    try {
      hook.getMethod("release").invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new Refusal("the hook can't be released: " + e, "restart the server");
    }
  }

  /** Faults of the agent's side that the hook has swallowed in this JVM. */
  static long faults(Class<?> hook) {
    try {
      return (Long) hook.getMethod("faults").invoke(null);
    } catch (ReflectiveOperationException e) {
      return -1;
    }
  }
}
