package io.helenus.agent.executors;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that run tasks instead of a stage's own executor, each task once. After {@link #close}
 * they accept no more tasks, run those that they have, and end.
 */
final class Workers {
  /** How long an idle worker polls before it sleeps, which is about the time to wake a thread. */
  private static final long SPIN_NS = 20_000;

  private final TaskQueue queue;
  private final Worker[] workers;

  /**
   * Whether a worker polls the queue without sleeping, or is about to. While a worker polls, a
   * thread that offers a task wakes nobody: the polling worker wakes the next one if the queue
   * holds more than it took. So a burst wakes threads one after the other, and only while there is
   * work.
   */
  private final AtomicBoolean polled = new AtomicBoolean();

  private volatile boolean closed;

  Workers(int count, TaskQueue queue, ThreadFactory threads) {
    this.queue = queue;
    workers = new Worker[count];
    for (int i = 0; i < count; i++) {
      workers[i] = new Worker(i);
      workers[i].thread = threads.newThread(workers[i]);
    }
    for (Worker worker : workers) {
      worker.thread.start();
    }
  }

  /** Whether the task is accepted, and so is run here and nowhere else. */
  boolean offer(Runnable task) {
    if (closed) {
      return false;
    }
    int meant = queue.put(task);
    // The closing thread sets the flag and then wakes the workers, which may have missed this task.
    if (closed && queue.remove(task)) {
      return false;
    }
    if (meant != TaskQueue.ANYONE) {
      workers[meant].wake();
      return true;
    }
    ensurePolling();
    return true;
  }

  /** Wakes a sleeping worker to poll the queue, unless a worker polls already. */
  private void ensurePolling() {
    do {
      if (polled.get() || !polled.compareAndSet(false, true) || wakeOne()) {
        return;
      }
      polled.set(false);
      // A thread that offered a task meanwhile saw the flag and woke nobody, and a worker may
      // have gone to sleep.
    } while (!queue.isEmpty() && someSleep());
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
   * Wakes the first worker that sleeps: it was active most recently, so its caches are warm, and
   * the last workers can sleep on. False if none sleeps.
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

  /** Waits until all workers have ended. Returns false on a timeout. */
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
    return queue.waiting();
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
    private final Runnable[] taken = new Runnable[queue.batchSize()];
    private final AtomicBoolean sleeps = new AtomicBoolean();
    private Thread thread;
    private volatile boolean inside;

    /** Written by the worker's own thread only. */
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
        // Read before taking tasks: a task that is queued after the close is removed by the thread
        // that queued it.
        boolean last = closed;
        int count = queue.take(number, taken);
        if (count > 0) {
          runTaken(count);
        } else if (last) {
          return;
        } else if (!queue.isShared() || !polled.compareAndSet(false, true) || !spin()) {
          sleep();
        }
      }
    }

    /**
     * Polls for a while, as the only worker, so that a single task is taken without waking a
     * thread. Returns whether there was a task, which has been run.
     */
    private boolean spin() {
      long endNs = System.nanoTime() + SPIN_NS;
      int count;
      do {
        Thread.onSpinWait();
        count = queue.take(number, taken);
      } while (count == 0 && !closed && System.nanoTime() - endNs < 0);
      polled.set(false);
      return runAlone(count);
    }

    /** Runs the tasks that it took; other threads may have queued more without waking a worker. */
    private boolean runAlone(int count) {
      if (count == 0) {
        return false;
      }
      if (!queue.isEmpty()) {
        ensurePolling();
      }
      runTaken(count);
      return true;
    }

    private void sleep() {
      sleeps.set(true);
      // A thread that queued a task before this point has not seen this worker sleep.
      int count = queue.take(number, taken);
      if (count > 0) {
        boolean woken = !sleeps.compareAndSet(true, false);
        if (woken && queue.isShared()) {
          polled.set(false);
        }
        runAlone(count);
        return;
      }
      while (sleeps.get() && !closed) {
        LockSupport.park(Workers.this);
      }
      // The thread that woke this worker expects it to poll.
      if (!sleeps.compareAndSet(true, false) && queue.isShared()) {
        spin();
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
          // Cassandra's handler decides, as for an exception in the stage's own executor.
          thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
        ran++;
      }
      inside = false;
    }
  }
}
