package io.helenus.agent.executors;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * One queue for all workers, from which each takes all waiting tasks, up to the batch size. Tasks
 * that arrive together are run together, and wake fewer threads.
 */
final class BatchedDrain implements TaskQueue {
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final int batchSize;

  BatchedDrain(int batchSize) {
    this.batchSize = batchSize;
  }

  @Override
  public int put(Runnable task) {
    queue.add(task);
    return ANYONE;
  }

  @Override
  public int take(int worker, Runnable[] into) {
    int taken = 0;
    for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
      into[taken++] = task;
      if (taken == batchSize) {
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
    return queue.isEmpty();
  }

  @Override
  public boolean remove(Runnable task) {
    return queue.remove(task);
  }

  @Override
  public int batchSize() {
    return batchSize;
  }

  @Override
  public int waiting() {
    return queue.size();
  }
}
