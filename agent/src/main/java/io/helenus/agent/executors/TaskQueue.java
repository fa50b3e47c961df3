package io.helenus.agent.executors;

/** The queue or queues between the threads that offer tasks and the workers. Thread-safe. */
interface TaskQueue {
  /** The value that means: any worker may take the task. */
  int ANYONE = -1;

  /**
   * Queues a task.
   *
   * @return the number of the one worker that may take the task, or {@link #ANYONE}
   */
  int put(Runnable task);

  /**
   * Takes the tasks that a worker runs next.
   *
   * @return how many were taken; 0 if there are none for this worker
   */
  int take(int worker, Runnable[] into);

  /** Whether any worker may take any task. */
  boolean isShared();

  boolean isEmpty();

  /** Removes a task. Returns whether it was still queued. */
  boolean remove(Runnable task);

  /** How many tasks a worker takes at most. */
  int batchSize();

  int waiting();
}
