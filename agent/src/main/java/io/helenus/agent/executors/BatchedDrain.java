package io.helenus.agent.executors;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * One line for all workers, from which each takes all that waits, up to a bound: what was handed
 * over together is run together, and wakes fewer threads.
 */
final class BatchedDrain implements Queueing {
  private final Queue<Runnable> line = new ConcurrentLinkedQueue<>();
  private final int most;

  BatchedDrain(int most) {
    this.most = most;
  }

  @Override
  public int put(Runnable task) {
    line.add(task);
    return ANYONE;
  }

  @Override
  public int take(int worker, Runnable[] into) {
    int taken = 0;
    for (Runnable task = line.poll(); task != null; task = line.poll()) {
      into[taken++] = task;
      if (taken == most) {
        break;
      }
    }
    return taken;
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public boolean isEmpty() {
    return line.isEmpty();
  }

  @Override
  public boolean takeBack(Runnable task) {
    return line.remove(task);
  }

  @Override
  public int most() {
    return most;
  }

  @Override
  public int waiting() {
    return line.size();
  }
}
