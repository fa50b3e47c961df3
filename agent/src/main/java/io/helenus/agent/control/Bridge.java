package io.helenus.agent.control;

import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.executors.Executors;
import io.helenus.agent.points.Refusal;
import java.util.function.BiPredicate;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Calls the {@code Hook} on the server's class path by reflection, because this loader has a
 * different class of that name.
 */
final class Bridge {
  private Bridge() {}

  /** Registers this agent's handlers with the hook. False if another agent holds it. */
  static boolean hold(Class<?> hook, Dispatcher dispatcher, Executors executors) {
    IntFunction<RuntimeException> enter = dispatcher::enter;
    IntConsumer exit = dispatcher::exit;
    BiPredicate<Object, Integer> wanted = dispatcher::wanted;
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

  /** Exceptions of agents that the hook has swallowed in this JVM. */
  static long faults(Class<?> hook) {
    try {
      return (Long) hook.getMethod("faults").invoke(null);
    } catch (ReflectiveOperationException e) {
      return -1;
    }
  }
}
