package io.helenus.agent.valves;

import java.util.concurrent.locks.LockSupport;

/**
 * Those who wait at a gate. Only who finds no room comes here; who finds room never takes this
 * lock.
 */
final class WaitingLine {
  /** A waiting request. */
  static final class Waiter {
    final Thread thread;
    final int point;
    private Waiter before;
    private Waiter after;
    private boolean called;

    Waiter(Thread thread, int point) {
      this.thread = thread;
      this.point = point;
    }
  }

  /** Waiters of one point, in order of arrival. */
  private static final class Lane {
    final double weight;
    Waiter first;
    Waiter last;

    /** How much it has been given, by its weight; the lane with the least is next. */
    double given;

    Lane(double weight) {
      this.weight = weight;
    }
  }

  private final Order order;
  private final Lane[] lanes;

  /** Woken and not yet awake: who calls more of them than there is room for wakes in vain. */
  private volatile int calling;

  /**
   * @param weights of the points, for {@link Order#CLASS}
   */
  WaitingLine(Order order, double[] weights) {
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
      lane.given = Math.max(lane.given, leastGiven());
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
    answered(waiter);
  }

  /** Whether it was called since it last asked. */
  synchronized boolean answered(Waiter waiter) {
    boolean called = waiter.called;
    if (called) {
      waiter.called = false;
      calling--;
    }
    return called;
  }

  /** Wakes the next waiter, unless enough waiters for the room are being woken already. */
  void call(int room) {
    if (calling < room) {
      Waiter next = next(room);
      if (next != null) {
        LockSupport.unpark(next.thread);
      }
    }
  }

  /** Wakes as many as there is room for. */
  void callAll(int room) {
    for (Waiter next = next(room); next != null; next = next(room)) {
      LockSupport.unpark(next.thread);
    }
  }

  private synchronized Waiter next(int room) {
    if (calling >= room) {
      return null;
    }
    Waiter next = null;
    Lane from = null;
    for (Lane lane : lanes) {
      if (from == null || lane.given < from.given) {
        Waiter candidate = uncalled(lane);
        if (candidate != null) {
          next = candidate;
          from = lane;
        }
      }
    }
    if (next != null) {
      from.given += 1 / from.weight;
      next.called = true;
      calling++;
    }
    return next;
  }

  private Waiter uncalled(Lane lane) {
    boolean lastFirst = order == Order.LIFO;
    Waiter waiter = lastFirst ? lane.last : lane.first;
    while (waiter != null && waiter.called) {
      waiter = lastFirst ? waiter.before : waiter.after;
    }
    return waiter;
  }

  private Lane lane(Waiter waiter) {
    return lanes[order == Order.CLASS ? waiter.point : 0];
  }

  private double leastGiven() {
    double least = Double.MAX_VALUE;
    for (Lane lane : lanes) {
      if (lane.first != null) {
        least = Math.min(least, lane.given);
      }
    }
    return least == Double.MAX_VALUE ? 0 : least;
  }
}
