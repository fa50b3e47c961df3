package io.helenus.agent.crossing;

import java.util.Arrays;

/**
 * What is known of one thread that crosses sites: the woven methods it is in, and what it has
 * counted. Written by that thread alone, so that no crossing shares a cache line with another
 * thread's; others only look at its accounts.
 */
public final class Traveller {
  /** Deeper than any sensible nesting of points; what is deeper is let through uncounted. */
  static final int DEEPEST = 200;

  public final Thread thread;

  /** The next of those whose threads' ids end alike. */
  volatile Traveller next;

  /** Where the woven methods begin: belongs to no site. */
  private final Frame bottom = new Frame(null);

  private Frame top = bottom;
  private int tooDeep;

  /** The innermost frame whose site is a probe. */
  public Frame metered;

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
    // By identity: the name is the same string until somebody sets another.
    if (now != name) {
      group = groups.of(now);
      name = now;
    }
    return group;
  }

  /** What this thread counts at the site of this number; null before it was there. */
  public Object account(int number) {
    return number < accounts.length ? accounts[number] : null;
  }

  public void account(int number, Object account) {
    if (number >= accounts.length) {
      accounts = Arrays.copyOf(accounts, Math.max(number + 1, accounts.length * 2));
    }
    accounts[number] = account;
  }

  Frame push(int number, Site site) {
    Frame frame = top.inner;
    if (frame == null) {
      if (top.depth >= DEEPEST) {
        tooDeep++;
        return null;
      }
      frame = new Frame(top);
      top.inner = frame;
    }
    frame.number = number;
    frame.site = site;
    frame.permit = false;
    top = frame;
    return frame;
  }

  /**
   * The frame that is left; null when the thread was inside before the method was woven. Frames
   * above it were never left: their thread had no stack left to say so.
   */
  Frame pop(int number) {
    if (tooDeep > 0) {
      tooDeep--;
      return null;
    }
    Frame frame = top;
    while (frame.number != number && frame != bottom) {
      frame = frame.outer;
    }
    if (frame == bottom) {
      return null;
    }
    for (Frame lost = top; lost != frame; lost = lost.outer) {
      leave(lost, true);
    }
    top = frame.outer;
    return frame;
  }

  void leave(Frame frame, boolean failed) {
    Site site = frame.site;
    frame.site = null;
    if (site != null) {
      site.exit(this, frame, failed);
    }
  }

  /** Leaves every method that the thread can't be in any more, for a thread that has ended. */
  void abandon() {
    for (Frame frame = top; frame != bottom; frame = frame.outer) {
      leave(frame, true);
    }
    top = bottom;
  }
}
