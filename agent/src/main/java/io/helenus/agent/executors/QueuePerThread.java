package io.helenus.agent.executors;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A line for each worker, in turn. Without stealing a task waits for its worker however many others
 * are idle; with it, who has nothing to do looks into the lines of the others.
 */
final class QueuePerThread implements Queueing {
  private final List<Queue<Runnable>> lines = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();
  private final boolean stealing;

  QueuePerThread(int workers, boolean stealing) {
    for (int i = 0; i < workers; i++) {
      lines.add(new ConcurrentLinkedQueue<>());
    }
    this.stealing = stealing;
  }

  @Override
  public int put(Runnable task) {
    int worker = Math.floorMod(turn.getAndIncrement(), lines.size());
    lines.get(worker).add(task);
    return stealing ? ANYONE : worker;
  }

  @Override
  public int take(int worker, Runnable[] into) {
    into[0] = lines.get(worker).poll();
    for (int i = 1; into[0] == null && stealing && i < lines.size(); i++) {
      into[0] = lines.get((worker + i) % lines.size()).poll();
    }
    return into[0] == null ? 0 : 1;
  }

  @Override
  public boolean isShared() {
    return stealing;
  }

  @Override
  public boolean isEmpty() {
    for (Queue<Runnable> line : lines) {
      if (!line.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean takeBack(Runnable task) {
    for (Queue<Runnable> line : lines) {
      if (line.remove(task)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public int most() {
    return 1;
  }

  @Override
  public int waiting() {
    return lines.stream().mapToInt(Queue::size).sum();
  }
}
