package io.helenus.agent.dispatch;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Passes each entry and exit of a woven method to the {@link Interceptor} that is registered under
 * the method's site number. Keeps for each thread the woven methods that it is in.
 */
public final class Dispatcher {
  private final ThreadStates threads = new ThreadStates();
  private final ThreadGroups groups = new ThreadGroups();
  private final Map<Integer, Predicate<Object>> guards = new ConcurrentHashMap<>();
  private volatile Interceptor[] interceptors = new Interceptor[0];
  private int next;

  /** A number for a new site. Numbers are never reused, so a late exit cannot hit another site. */
  public synchronized int number() {
    int number = next;
    next += 2;
    return number;
  }

  /** A number for a new site whose interceptor gets the time of each exit. */
  public int timedNumber() {
    return number() + 1;
  }

  /**
   * Whether the clock is read at an exit. Only the number decides, so that the clock is read before
   * any lookup, and no measured time includes the agent's own work.
   */
  static boolean isTimed(int number) {
    return (number & 1) != 0;
  }

  /**
   * Registers an interceptor for a site.
   *
   * @param guard selects calls by the object that the site passes; null for all
   */
  public void register(int number, Interceptor interceptor, Predicate<Object> guard) {
    set(number, interceptor, guard);
  }

  /** Removes the interceptor of a site. Threads that are inside still leave it. */
  public void unregister(int number) {
    set(number, null, null);
  }

  private synchronized void set(int number, Interceptor interceptor, Predicate<Object> guard) {
    Interceptor[] next = Arrays.copyOf(interceptors, Math.max(interceptors.length, number + 1));
    next[number] = interceptor;
    if (guard == null) {
      guards.remove(number);
    } else {
      guards.put(number, guard);
    }
    interceptors = next;
  }

  public ThreadGroups groups() {
    return groups;
  }

  /** Frees the state of ended threads. Call it about once a second. */
  public void forgetEndedThreads() {
    threads.forgetEnded();
  }

  /** Whether the guard of a site selects a call; see {@link #register}. */
  public boolean wanted(Object about, Integer number) {
    Predicate<Object> guard = guards.get(number);
    return guard == null || guard.test(about);
  }

  /** Handles the entry of a thread; see {@link io.helenus.agent.Hook#hold}. */
  public RuntimeException enter(int code) {
    ThreadState state = threads.current();
    if (state == null) {
      return null;
    }
    if (code < 0) {
      state.push(~code, null);
      return null;
    }
    Interceptor[] interceptors = this.interceptors;
    Interceptor interceptor = code < interceptors.length ? interceptors[code] : null;
    Frame frame = state.push(code, interceptor);
    if (frame == null || interceptor == null) {
      return null;
    }
    RuntimeException refusal = interceptor.enter(state, frame);
    if (refusal != null) {
      // A method whose call was refused has no exit.
      state.refused();
    }
    return refusal;
  }

  /** Handles the exit of a thread; see {@link io.helenus.agent.Hook#hold}. */
  public void exit(int code) {
    boolean failed = code < 0;
    int number = failed ? ~code : code;
    long nowNs = isTimed(number) ? System.nanoTime() : 0;
    ThreadState state = threads.known();
    if (state != null) {
      state.leave(number, failed, nowNs);
    }
  }
}
