package io.helenus.agent.dispatch;

import java.util.Arrays;

/**
 * The state of one thread that calls woven methods: the woven methods that it is in, and its
 * counters. Only that thread writes the state, so that threads don't contend for a cache line;
 * other threads only read the counters.
 */
public final class ThreadState {
  /** The deepest nesting of woven methods that is tracked; deeper calls are not counted. */
  static final int DEEPEST = 200;

  public final Thread thread;

  /** The next state in the same hash bucket. */
  volatile ThreadState next;

  /** A stack of the woven methods that the thread is in; unused frames above it are reused. */
  private Frame[] frames = new Frame[4];

  private int depth;
  private int tooDeep;

  /** The depth of the innermost frame of a probe; -1 for none. */
  public int metered = -1;

  /** The gates whose permits this thread holds, a bit for each slot of the gate order. */
  public long held;

  private String name;
  private ThreadGroups.Group group;
  private Object[] bySite = new Object[16];

  ThreadState(Thread thread, ThreadState next) {
    this.thread = thread;
    this.next = next;
  }

  /** The group that the thread's name belongs to now. Cassandra's workers rename themselves. */
  public ThreadGroups.Group group(ThreadGroups groups) {
    String now = thread.getName();
    // Compares by identity, because the name is the same string until the thread is renamed.
    if (now != name) {
      group = groups.of(now);
      name = now;
    }
    return group;
  }

  /** This thread's counters at a site; null before its first entry there. */
  public Object counters(int number) {
    return number < bySite.length ? bySite[number] : null;
  }

  public void counters(int number, Object counters) {
    if (number >= bySite.length) {
      bySite = Arrays.copyOf(bySite, Math.max(number + 1, bySite.length * 2));
    }
    bySite[number] = counters;
  }

  /** One of the woven methods that the thread is in. */
  public Frame frame(int depth) {
    return frames[depth];
  }

  Frame push(int number, Interceptor interceptor) {
    if (depth >= DEEPEST) {
      tooDeep++;
      return null;
    }
    if (depth == frames.length) {
      frames = Arrays.copyOf(frames, 2 * depth);
    }
    Frame frame = frames[depth];
    if (frame == null) {
      frame = new Frame(depth);
      frames[depth] = frame;
    }
    depth++;
    frame.enter(number, interceptor);
    return frame;
  }

  /**
   * Leaves the innermost method of that number; returns null if the thread entered the method
   * before it was woven. Frames above it are removed, too: after a stack overflow their exits were
   * not reported.
   */
  void leave(int number, boolean failed, long nowNs) {
    if (tooDeep > 0) {
      tooDeep--;
      return;
    }
    int left = depth - 1;
    while (left >= 0 && frames[left].number != number) {
      left--;
    }
    if (left >= 0) {
      leaveAbove(left + 1);
      depth = left;
      exit(frames[left], failed, nowNs);
    }
  }

  /** Undoes the last push, because the interceptor refused the call. */
  void refused() {
    depth--;
  }

  /** Leaves all methods of a thread that has ended. */
  void abandon() {
    leaveAbove(0);
  }

  private void leaveAbove(int outer) {
    while (depth > outer) {
      depth--;
      Frame frame = frames[depth];
      exit(frame, true, Dispatcher.isTimed(frame.number) ? System.nanoTime() : 0);
    }
  }

  private void exit(Frame frame, boolean failed, long nowNs) {
    Interceptor interceptor = frame.interceptor;
    if (interceptor != null) {
      interceptor.exit(this, frame, failed, nowNs);
    }
  }
}
