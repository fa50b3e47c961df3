package io.helenus.agent.executors;

/** Where tasks wait for the workers, and which of them a worker takes. For many threads at once. */
interface Queueing {
  /** Any worker may take the task. */
  int ANYONE = -1;

  /**
   * Puts a task in line.
   *
   * @return the one worker that takes it, or {@link #ANYONE}
   */
  int put(Runnable task);

  /**
   * Takes what a worker is to run next.
   *
   * @return how many were taken; 0 when there is nothing for it
   */
  int take(int worker, Runnable[] into);

  /** Whether any worker may take any task. */
  boolean isShared();

  boolean isEmpty();

  /** Takes a task back; whether it was still in line. */
  boolean takeBack(Runnable task);

  /** How many a worker takes at the most. */
  int most();

  int waiting();
}
