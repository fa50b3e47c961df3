package io.helenus.agent.valves.law;

/**
 * Decides from measurements how many requests may be inside at once; it enforces nothing.
 *
 * <p>A law gets one window after another, from one thread. A valve starts with the largest limit,
 * as though there were none, and keeps the last limit that the law decided. A law is deterministic:
 * the same windows give the same decisions.
 */
public interface Law {
  /** How long a window should be, ns; may differ from one window to the next. */
  long windowNs();

  /**
   * The limit until the first window has ended, from the limit in force: the largest for a new
   * valve.
   */
  default int first(int limit) {
    return limit;
  }

  /** The next limit from what happened in the window that just ended. */
  Decision next(Window window);
}
