package io.helenus.agent.executors;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A queue for each worker; tasks go to the queues round robin. Without stealing a task waits for
 * its worker even while others are idle; with stealing, an idle worker takes from the queues of
 * others.
 */
final class QueuePerThread implements TaskQueue {
  private final List<Queue<Runnable>> queues = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();
  private final boolean stealing;

  QueuePerThread(int workers, boolean stealing) {
    for (int i = 0; i < workers; i++) {
      queues.add(new ConcurrentLinkedQueue<>());
    }
    this.stealing = stealing;
  }

  @Override
  public int put(Runnable task) {
    int worker = Math.floorMod(next.getAndIncrement(), queues.size());
    queues.get(worker).add(task);
    return stealing ? ANYONE : worker;
  }

  @Override
  public int take(int worker, Runnable[] into) {
    into[0] = queues.get(worker).poll();
    for (int i = 1; into[0] == null && stealing && i < queues.size(); i++) {
      into[0] = queues.get((worker + i) % queues.size()).poll();
    }
    return into[0] == null ? 0 : 1;
  }

  @Override
  public boolean isShared() {
    return stealing;
  }

  @Override
  public boolean isEmpty() {
    for (Queue<Runnable> queue : queues) {
      if (!queue.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean remove(Runnable task) {
    for (Queue<Runnable> queue : queues) {
      if (queue.remove(task)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public int batchSize() {
    return 1;
  }

  @Override
  public int waiting() {
    return queues.stream().mapToInt(Queue::size).sum();
  }
}
