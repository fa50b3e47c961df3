package io.helenus.agent.valves.law;

/**
 * Decides how many may be inside at once, from what was measured; it enforces nothing.
 *
 * <p>A law is told of one window after another and is used by one thread. A valve starts with the
 * largest limit, as though there were none, and keeps to what the law said last. Given the same
 * windows a law says the same.
 */
public interface Law {
  /** How long a window should be, ns; may differ from one window to the next. */
  long windowNs();

  /** The next limit from what happened in the window that just ended. */
  Decision next(Window window);
}
