package io.helenus.agent.crossing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * All threads that cross sites, found by the thread's id.
 *
 * <p>Not a ThreadLocal: its values would stay in the server's threads after the agent has gone, and
 * would keep the agent's classes.
 */
final class Travellers {
  private static final VarHandle BUCKET = MethodHandles.arrayElementVarHandle(Traveller[].class);
  private static final int BUCKETS = 1 << 12;

  /** Beyond this many threads at once, which only virtual ones reach, threads pass uncounted. */
  private static final int MOST = 1 << 14;

  private final Traveller[] buckets = new Traveller[BUCKETS];
  private int count;

  /** That of the current thread; null when there are too many threads. */
  Traveller current() {
    Thread thread = Thread.currentThread();
    int bucket = (int) thread.getId() & (BUCKETS - 1);
    for (Traveller t = first(bucket); t != null; t = t.next) {
      if (t.thread == thread) {
        return t;
      }
    }
    return add(thread, bucket);
  }

  /** That of the current thread if it has ever entered a site. */
  Traveller known() {
    Thread thread = Thread.currentThread();
    Traveller t = first((int) thread.getId() & (BUCKETS - 1));
    while (t != null && t.thread != thread) {
      t = t.next;
    }
    return t;
  }

  private Traveller first(int bucket) {
    return (Traveller) BUCKET.getAcquire(buckets, bucket);
  }

  private void first(int bucket, Traveller traveller) {
    BUCKET.setRelease(buckets, bucket, traveller);
  }

  private synchronized Traveller add(Thread thread, int bucket) {
    if (count >= MOST) {
      return null;
    }
    Traveller traveller = new Traveller(thread, first(bucket));
    first(bucket, traveller);
    count++;
    return traveller;
  }

  /** Forgets threads that have ended, and leaves for them what they can't be in any more. */
  synchronized void forgetEnded() {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      Traveller kept = null;
      for (Traveller t = first(bucket); t != null; t = t.next) {
        if (t.thread.isAlive()) {
          kept = t;
          continue;
        }
        // A thread that reads the list at t still finds the rest, because t.next is kept.
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
