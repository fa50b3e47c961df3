package io.helenus.agent.executors;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that run tasks in the place of a stage's own executor, each task once. Once closed they
 * take no more, run what they have taken, and end.
 */
final class Workers {
  /** How long a worker that has run out of tasks looks on: about what it takes to wake a thread. */
  private static final long WATCH_NS = 20_000;

  private final Queueing queueing;
  private final Worker[] workers;

  /**
   * Whether a worker polls the queue without sleeping, or is about to. While a worker polls, a
   * thread that offers a task wakes nobody: the polling worker wakes the next one if the queue
   * holds more than it took. So a burst wakes threads one after the other, and only while there is
   * work.
   */
  private final AtomicBoolean watched = new AtomicBoolean();

  private volatile boolean closed;

  Workers(int count, Queueing queueing, ThreadFactory threads) {
    this.queueing = queueing;
    workers = new Worker[count];
    for (int i = 0; i < count; i++) {
      workers[i] = new Worker(i);
      workers[i].thread = threads.newThread(workers[i]);
    }
    for (Worker worker : workers) {
      worker.thread.start();
    }
  }

  /** Whether the task is taken, and so is run here and nowhere else. */
  boolean offer(Runnable task) {
    if (closed) {
      return false;
    }
    int meant = queueing.put(task);
    // The closing thread sets the flag, then wakes the workers; they may have missed this task.
    if (closed && queueing.takeBack(task)) {
      return false;
    }
    if (meant != Queueing.ANYONE) {
      workers[meant].wake();
      return true;
    }
    haveWatched();
    return true;
  }

  /** Wakes a sleeping worker to poll the queue, unless a worker polls already. */
  private void haveWatched() {
    do {
      if (watched.get() || !watched.compareAndSet(false, true) || wakeOne()) {
        return;
      }
      watched.set(false);
      // A thread that offered a task meanwhile saw the flag and woke nobody, and a worker may
      // have gone to sleep.
    } while (!queueing.isEmpty() && someSleep());
  }

  private boolean someSleep() {
    for (Worker worker : workers) {
      if (worker.sleeps.get()) {
        return true;
      }
    }
    return false;
  }

  /**
   * The first that sleeps: who has just worked has warm caches, and the last ones sleep on. False
   * where none sleeps.
   */
  private boolean wakeOne() {
    for (Worker worker : workers) {
      if (worker.wake()) {
        return true;
      }
    }
    return false;
  }

  void close() {
    closed = true;
    for (Worker worker : workers) {
      LockSupport.unpark(worker.thread);
    }
  }

  /** Waits until all have ended; whether they have. */
  boolean awaitEnd(long timeoutMs) throws InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    for (Worker worker : workers) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
      worker.thread.join(Math.max(1, leftMs));
      if (worker.thread.isAlive()) {
        return false;
      }
    }
    return true;
  }

  int count() {
    return workers.length;
  }

  int waiting() {
    return queueing.waiting();
  }

  int inside() {
    int inside = 0;
    for (Worker worker : workers) {
      inside += worker.inside ? 1 : 0;
    }
    return inside;
  }

  long ran() {
    long ran = 0;
    for (Worker worker : workers) {
      ran += worker.ran;
    }
    return ran;
  }

  private final class Worker implements Runnable {
    private final int number;
    private final Runnable[] taken = new Runnable[queueing.most()];
    private final AtomicBoolean sleeps = new AtomicBoolean();
    private Thread thread;
    private volatile boolean inside;

    /** Written by its thread alone. */
    private volatile long ran;

    Worker(int number) {
      this.number = number;
    }

    /** Whether it slept and was not woken by another thread. */
    boolean wake() {
      if (sleeps.get() && sleeps.compareAndSet(true, false)) {
        LockSupport.unpark(thread);
        return true;
      }
      return false;
    }

    @Override
    public void run() {
      while (true) {
        // Before it looks: what is put in line after they were closed is taken back by who put it.
        boolean last = closed;
        int count = queueing.take(number, taken);
        if (count > 0) {
          runTaken(count);
        } else if (last) {
          return;
        } else if (!queueing.isShared() || !watched.compareAndSet(false, true) || !watch()) {
          sleep();
        }
      }
    }

    /**
     * Looks on for a while, as the only one: a task that comes by itself is taken without the time
     * that it takes to wake a thread. Whether there was one, which has been run.
     */
    private boolean watch() {
      long endNs = System.nanoTime() + WATCH_NS;
      int count;
      do {
        Thread.onSpinWait();
        count = queueing.take(number, taken);
      } while (count == 0 && !closed && System.nanoTime() - endNs < 0);
      watched.set(false);
      return runAlone(count);
    }

    /**
     * Runs the tasks it took; other threads may have queued more meanwhile without waking a worker.
     */
    private boolean runAlone(int count) {
      if (count == 0) {
        return false;
      }
      if (!queueing.isEmpty()) {
        haveWatched();
      }
      runTaken(count);
      return true;
    }

    private void sleep() {
      sleeps.set(true);
      // A thread that queued a task before this point has not seen this worker sleep.
      int count = queueing.take(number, taken);
      if (count > 0) {
        boolean woken = !sleeps.compareAndSet(true, false);
        if (woken && queueing.isShared()) {
          watched.set(false);
        }
        runAlone(count);
        return;
      }
      while (sleeps.get() && !closed) {
        LockSupport.park(Workers.this);
      }
      // The thread that woke this worker expects it to poll.
      if (!sleeps.compareAndSet(true, false) && queueing.isShared()) {
        watch();
      }
    }

    private void runTaken(int count) {
      inside = true;
      for (int i = 0; i < count; i++) {
        Runnable task = taken[i];
        taken[i] = null;
        try {
          task.run();
        } catch (Throwable e) {
          // As an executor's own thread would end with it; Cassandra's handler knows what to do.
          thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
        ran++;
      }
      inside = false;
    }
  }
}
