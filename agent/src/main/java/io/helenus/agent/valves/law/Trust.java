package io.helenus.agent.valves.law;

/**
 * Which windows can be believed: a collection that happens to fall into one says nothing of the
 * limit.
 *
 * <p>Where collections are in more than one window of eight they belong to what the limit does (the
 * more requests are inside, the more they hold of the heap), and leaving them out would hide just
 * what is to be won; so then all windows count.
 */
final class Trust {
  /** A collection that took so much of a window makes it another one. */
  private static final double MUCH = 0.1;

  private static final int SIZE = 48;
  private static final int ONE_IN = 8;

  private final boolean[] collected = new boolean[SIZE];
  private int next;
  private int seen;
  private int collections;

  /** Takes note of a window, and says whether it counts. */
  boolean counts(Window window) {
    boolean collects = window.gcShare > 0;
    collections += (collects ? 1 : 0) - (collected[next] ? 1 : 0);
    collected[next] = collects;
    next = (next + 1) % SIZE;
    seen = Math.min(SIZE, seen + 1);
    // One of few is by chance.
    return window.gcShare <= MUCH || ONE_IN * (collections - 1) > seen;
  }
}
