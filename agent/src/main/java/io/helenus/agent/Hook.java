package io.helenus.agent;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Entry point of the woven code in the server's classes: the bridge between the server's class
 * loader and the agent's. The bridge uses JDK types only, so that neither loader sees the other's
 * classes.
 *
 * <p>While no agent holds the hook, every call does nothing. The hook swallows and counts faults of
 * the agent, and the server's method runs unchanged. Like {@link Entry}, this class stays loaded
 * after its agent has ended and a newer agent finds it, so keep the class small; {@link #VERSION}
 * tells which version is loaded.
 */
public final class Hook {
  public static final int VERSION = 3;

  /** Whether a class of this JVM has ever been woven. */
  public static volatile boolean woven;

  private static final AtomicLong FAULTS = new AtomicLong();

  private static volatile IntFunction<RuntimeException> enter;
  private static volatile IntConsumer exit;
  private static volatile BiPredicate<Object, Integer> wanted;
  private static volatile BiPredicate<Object, Object> take;

  private Hook() {}

  /**
   * Registers the callee; only one agent at a time can hold it.
   *
   * @param enter called at entry with the site's number, or its bitwise complement if {@code
   *     wanted} was false; returns the exception to refuse the call with, or null
   * @param exit called at exit with the site's number, or its complement after an exception
   * @param wanted called with an object and the site's number; whether the site handles this call
   * @param take called with an executor and a task; whether the agent runs the task instead
   * @return false if another agent holds it
   */
  public static synchronized boolean hold(
      IntFunction<RuntimeException> enter,
      IntConsumer exit,
      BiPredicate<Object, Integer> wanted,
      BiPredicate<Object, Object> take) {
    if (Hook.enter != null) {
      return false;
    }
    Hook.wanted = wanted;
    Hook.take = take;
    Hook.exit = exit;
    Hook.enter = enter;
    return true;
  }

  public static synchronized void release() {
    enter = null;
    exit = null;
    wanted = null;
    take = null;
  }

  /** Number of faults that were swallowed since this class was loaded. */
  public static long faults() {
    return FAULTS.get();
  }

  public static void enter(int site) {
    IntFunction<RuntimeException> enter = Hook.enter;
    if (enter == null) {
      return;
    }
    RuntimeException refusal = null;
    try {
      refusal = enter.apply(site);
    } catch (Throwable e) {
      count();
    }
    if (refusal != null) {
      throw refusal;
    }
  }

  /** Enters a site with a guard, which handles only some of the calls. */
  public static void enterIf(Object about, int site) {
    BiPredicate<Object, Integer> wanted = Hook.wanted;
    boolean yes = false;
    try {
      yes = wanted != null && wanted.test(about, site);
    } catch (Throwable e) {
      count();
    }
    enter(yes ? site : ~site);
  }

  public static void exit(int site) {
    IntConsumer exit = Hook.exit;
    if (exit == null) {
      return;
    }
    try {
      exit.accept(site);
    } catch (Throwable e) {
      count();
    }
  }

  /** Whether the agent runs a task instead of the executor that it was submitted to. */
  public static boolean take(Object executor, Object task) {
    BiPredicate<Object, Object> take = Hook.take;
    try {
      return take != null && take.test(executor, task);
    } catch (Throwable e) {
      count();
      return false;
    }
  }

  private static void count() {
    try {
      FAULTS.incrementAndGet();
    } catch (Throwable e) {
      // The thread's stack is full; the server's own code will meet the same error.
      return;
    }
  }
}
