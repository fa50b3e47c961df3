package io.helenus.agent.dispatch;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The states of all threads that have called a woven method, in a hash table by the thread's id.
 *
 * <p>Not a ThreadLocal: its values would stay in the server's threads after the agent has gone, and
 * would keep the agent's classes.
 */
final class ThreadStates {
  private static final VarHandle BUCKET = MethodHandles.arrayElementVarHandle(ThreadState[].class);
  private static final int BUCKETS = 1 << 12;

  /**
   * The most threads that are tracked, which only virtual threads reach. Calls of further threads
   * are not counted.
   */
  private static final int MOST = 1 << 14;

  private final ThreadState[] buckets = new ThreadState[BUCKETS];
  private int count;

  /** The state of the current thread; null when there are too many threads. */
  ThreadState current() {
    Thread thread = Thread.currentThread();
    int bucket = (int) thread.getId() & (BUCKETS - 1);
    for (ThreadState t = first(bucket); t != null; t = t.next) {
      if (t.thread == thread) {
        return t;
      }
    }
    return add(thread, bucket);
  }

  /** The state of the current thread; null if it never entered a woven method. */
  ThreadState known() {
    Thread thread = Thread.currentThread();
    ThreadState t = first((int) thread.getId() & (BUCKETS - 1));
    while (t != null && t.thread != thread) {
      t = t.next;
    }
    return t;
  }

  private ThreadState first(int bucket) {
    return (ThreadState) BUCKET.getAcquire(buckets, bucket);
  }

  private void first(int bucket, ThreadState state) {
    BUCKET.setRelease(buckets, bucket, state);
  }

  private synchronized ThreadState add(Thread thread, int bucket) {
    if (count >= MOST) {
      return null;
    }
    ThreadState state = new ThreadState(thread, first(bucket));
    first(bucket, state);
    count++;
    return state;
  }

  /** Removes the states of ended threads, and leaves the methods that they were in. */
  synchronized void forgetEnded() {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      ThreadState kept = null;
      for (ThreadState t = first(bucket); t != null; t = t.next) {
        if (t.thread.isAlive()) {
          kept = t;
          continue;
        }
        // A thread that is reading the list at t still finds the rest, because t.next is not
        // changed.
        if (kept == null) {
          first(bucket, t.next);
        } else {
          kept.next = t.next;
        }
        count--;
        t.abandon();
      }
    }
  }
}
