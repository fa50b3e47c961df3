package io.helenus.agent.valves;

import java.util.concurrent.locks.LockSupport;

/**
 * The threads that wait at a gate, and the order in which they are woken. A thread that finds room
 * at once never takes this queue's lock.
 */
final class WaitQueue {
  /** A waiting thread. */
  static final class Waiter {
    final Thread thread;
    final int point;
    private Waiter before;
    private Waiter after;
    private boolean woken;

    Waiter(Thread thread, int point) {
      this.thread = thread;
      this.point = point;
    }
  }

  /** The waiters of one point, in order of arrival. */
  private static final class Lane {
    final double weight;
    Waiter first;
    Waiter last;

    /**
     * Waiters woken so far, divided by the weight; the lane with the smallest value is served next.
     */
    double served;

    Lane(double weight) {
      this.weight = weight;
    }
  }

  private final Order order;
  private final Lane[] lanes;

  /**
   * Number of waiters that were woken and have not run yet. It never exceeds the number of free
   * permits.
   */
  private volatile int waking;

  /**
   * @param weights of the points, for {@link Order#CLASS}
   */
  WaitQueue(Order order, double[] weights) {
    this.order = order;
    lanes = new Lane[order == Order.CLASS ? weights.length : 1];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new Lane(order == Order.CLASS ? weights[i] : 1);
    }
  }

  Order order() {
    return order;
  }

  synchronized void add(Waiter waiter) {
    Lane lane = lane(waiter);
    if (lane.first == null) {
      // A lane that was empty for a while gets no credit for that time.
      lane.served = Math.max(lane.served, leastServed());
      lane.first = waiter;
    } else {
      lane.last.after = waiter;
      waiter.before = lane.last;
    }
    lane.last = waiter;
  }

  synchronized void remove(Waiter waiter) {
    Lane lane = lane(waiter);
    if (waiter.before == null) {
      lane.first = waiter.after;
    } else {
      waiter.before.after = waiter.after;
    }
    if (waiter.after == null) {
      lane.last = waiter.before;
    } else {
      waiter.after.before = waiter.before;
    }
    takeWakeUp(waiter);
  }

  /** Whether the waiter was woken by this queue since the last call. */
  synchronized boolean takeWakeUp(Waiter waiter) {
    boolean woken = waiter.woken;
    if (woken) {
      waiter.woken = false;
      waking--;
    }
    return woken;
  }

  /** Wakes the next waiter, unless enough waiters for the free permits are being woken already. */
  void wake(int room) {
    if (waking < room) {
      Waiter next = next(room);
      if (next != null) {
        LockSupport.unpark(next.thread);
      }
    }
  }

  /** Wakes as many waiters as there are free permits. */
  void wakeAll(int room) {
    for (Waiter next = next(room); next != null; next = next(room)) {
      LockSupport.unpark(next.thread);
    }
  }

  private synchronized Waiter next(int room) {
    if (waking >= room) {
      return null;
    }
    Waiter next = null;
    Lane from = null;
    for (Lane lane : lanes) {
      if (from == null || lane.served < from.served) {
        Waiter candidate = firstAsleep(lane);
        if (candidate != null) {
          next = candidate;
          from = lane;
        }
      }
    }
    if (next != null) {
      from.served += 1 / from.weight;
      next.woken = true;
      waking++;
    }
    return next;
  }

  private Waiter firstAsleep(Lane lane) {
    boolean lastFirst = order == Order.LIFO;
    Waiter waiter = lastFirst ? lane.last : lane.first;
    while (waiter != null && waiter.woken) {
      waiter = lastFirst ? waiter.before : waiter.after;
    }
    return waiter;
  }

  private Lane lane(Waiter waiter) {
    return lanes[order == Order.CLASS ? waiter.point : 0];
  }

  private double leastServed() {
    double least = Double.MAX_VALUE;
    for (Lane lane : lanes) {
      if (lane.first != null) {
        least = Math.min(least, lane.served);
      }
    }
    return least == Double.MAX_VALUE ? 0 : least;
  }
}
