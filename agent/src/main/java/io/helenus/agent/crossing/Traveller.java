package io.helenus.agent.crossing;

import java.util.Arrays;

/**
 * The state of one thread that crosses sites: the woven methods that the thread is in, and its
 * counts. Only that thread writes the state, so that threads don't contend for a cache line; other
 * threads only read the accounts.
 */
public final class Traveller {
  /** Deeper than any sensible nesting of points; what is deeper is let through uncounted. */
  static final int DEEPEST = 200;

  public final Thread thread;

  /** The next of those whose threads' ids end alike. */
  volatile Traveller next;

  /** The woven methods that it is in, by their depth, and frames to be used again. */
  private Frame[] frames = new Frame[4];

  private int depth;
  private int tooDeep;

  /** The depth of the innermost frame whose site is a probe; -1 for none. */
  public int metered = -1;

  /** Which valves this thread holds permits of, a bit for each by their order. */
  public long held;

  private String name;
  private ThreadGroups.Group group;
  private Object[] accounts = new Object[16];

  Traveller(Thread thread, Traveller next) {
    this.thread = thread;
    this.next = next;
  }

  /** The group that the thread's name belongs to now. Cassandra's workers rename themselves. */
  public ThreadGroups.Group group(ThreadGroups groups) {
    String now = thread.getName();
    // By identity: the name is the same string until the thread is renamed.
    if (now != name) {
      group = groups.of(now);
      name = now;
    }
    return group;
  }

  /** This thread's account at the site of this number; null before its first entry there. */
  public Object account(int number) {
    return number < accounts.length ? accounts[number] : null;
  }

  public void account(int number, Object account) {
    if (number >= accounts.length) {
      accounts = Arrays.copyOf(accounts, Math.max(number + 1, accounts.length * 2));
    }
    accounts[number] = account;
  }

  /** One of the woven methods that the thread is in. */
  public Frame frame(int depth) {
    return frames[depth];
  }

  Frame push(int number, Site site) {
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
    frame.enter(number, site);
    return frame;
  }

  /**
   * Leaves the innermost method of that number; none when the thread was inside before the method
   * was woven. Frames above it were never left: their thread had no stack left to say so.
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

  /** Takes back the last entry, since the site refused the call. */
  void refused() {
    depth--;
  }

  /** Leaves every method that the thread can't be in any more, for a thread that has ended. */
  void abandon() {
    leaveAbove(0);
  }

  private void leaveAbove(int outer) {
    while (depth > outer) {
      depth--;
      Frame frame = frames[depth];
      exit(frame, true, Crossings.isTimed(frame.number) ? System.nanoTime() : 0);
    }
  }

  private void exit(Frame frame, boolean failed, long nowNs) {
    Site site = frame.site;
    if (site != null) {
      site.exit(this, frame, failed, nowNs);
    }
  }
}
