package io.helenus.agent.valves.law;

/**
 * {@code fixed}: always the same limit.
 *
 * <p>Parameter: {@code limit}, min to max, default max.
 */
final class Fixed implements Law {
  private static final long WINDOW_NS = 1_000_000_000;

  private final int limit;

  Fixed(Parameters given, int min, int max) {
    limit = given.whole("limit", max, min, max);
  }

  @Override
  public long windowNs() {
    return WINDOW_NS;
  }

  @Override
  public int first(int ignored) {
    return limit;
  }

  @Override
  public Decision next(Window window) {
    return new Decision(limit, "fixed at " + limit);
  }
}
