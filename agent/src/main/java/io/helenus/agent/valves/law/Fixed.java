package io.helenus.agent.valves.law;

/**
 * {@code fixed}: always the same limit.
 *
 * <p>Parameter: {@code limit}, min to max, default max.
 */
final class Fixed implements Law {
  private static final long WINDOW_NS = 1_000_000_000;

  private final int limit;
  private boolean begun;

  Fixed(Parameters given, int min, int max) {
    limit = given.whole("limit", max, min, max);
  }

  @Override
  public long windowNs() {
    // A valve starts with the largest limit; the first window is short, so that the fixed limit is
    // set soon.
    return begun ? WINDOW_NS : Estimate.FIRST_WINDOW_NS;
  }

  @Override
  public Decision next(Window window) {
    begun = true;
    return new Decision(limit, "fixed at " + limit);
  }
}
