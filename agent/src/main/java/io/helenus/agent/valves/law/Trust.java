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
  private static final double PAUSED = 0.1;
  private static final int SIZE = 48;
  private static final int ONE_IN = 8;

  private final boolean[] paused = new boolean[SIZE];
  private int next;
  private int seen;
  private int pauses;

  /** Takes note of a window, and says whether it counts. */
  boolean counts(Window window) {
    boolean pause = window.gcShare > PAUSED;
    pauses += (pause ? 1 : 0) - (paused[next] ? 1 : 0);
    paused[next] = pause;
    next = (next + 1) % SIZE;
    seen = Math.min(SIZE, seen + 1);
    // One of few is by chance.
    return !pause || ONE_IN * (pauses - 1) > seen;
  }
}
