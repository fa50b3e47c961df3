package io.helenus.agent.valves.law;

/**
 * {@code codel}: lowers the limit while the queue before the region stands, and never drains.
 *
 * <p>A queue that empties now and then only smooths bursts; one whose least wait over an {@code
 * interval} stays above {@code target} is bad. From then on the limit falls by {@code step}, first
 * after one interval and then, as long as the wait stays above the target, at
 *
 * <pre>
 *   next = last + interval / sqrt(count)
 * </pre>
 *
 * <p>so that it falls faster and faster. Once the wait is below the target, the limit rises by the
 * same step each interval. If the queue stands again within 16 intervals, the count goes on from
 * where it was, less two.
 *
 * <p>Source: Nichols and Jacobson, Controlling queue delay, ACM Queue 10(5), 2012; RFC 8289. There
 * a step drops a packet, and the sender slows down. Here it makes less room, and unless the valve
 * refuses those who waited longest, clients do not slow down: the wait then rises as the limit
 * falls. Therefore the limit does not fall below {@code least}. The least wait of an interval is
 * taken from the mean waits of four windows, since a window has no least.
 *
 * <p>Parameters: {@code target_ms} 5, 0.01 to 60000; {@code interval_ms} 100, 20 to 60000; {@code
 * step} 0.05, a share of the limit, 0.01 to 0.5; {@code least} 0.25, a share of max, 0 to 1.
 */
final class Codel implements Law {
  private static final int WINDOWS_PER_INTERVAL = 4;
  private static final int REMEMBERED_INTERVALS = 16;

  private final long targetNs;
  private final long intervalNs;
  private final double step;
  private final double least;
  private final int max;

  private double limit;
  private long aboveSinceNs;
  private boolean above;
  private boolean falling;
  private int count;
  private long nextNs;
  private long endedNs;

  Codel(Parameters given, int min, int max) {
    targetNs = given.millis("target_ms", 5, 0.01, 60_000);
    intervalNs = given.millis("interval_ms", 100, 20, 60_000);
    step = given.number("step", 0.05, 0.01, 0.5);
    least = Math.max(min, max * given.number("least", 0.25, 0, 1));
    this.max = max;
    this.limit = max;
  }

  @Override
  public long windowNs() {
    return intervalNs / WINDOWS_PER_INTERVAL;
  }

  @Override
  public Decision next(Window window) {
    long nowNs = window.endNs;
    double waitNs = window.waitNs / (double) Math.max(1, window.left());
    // Where nobody leaves, those who wait tell.
    boolean high = window.left() > 0 ? waitNs > targetNs : above && window.waiting > 0;
    if (high && !above) {
      aboveSinceNs = window.startNs;
    }
    above = high;
    boolean stands = high && nowNs - aboveSinceNs >= intervalNs;
    if (!high && falling) {
      falling = false;
      endedNs = nowNs;
      nextNs = nowNs + intervalNs;
    }
    if (stands && !falling) {
      falling = true;
      boolean again = count > 2 && nowNs - endedNs < REMEMBERED_INTERVALS * intervalNs;
      count = again ? count - 2 : 1;
      fall(nowNs);
    } else if (stands && nowNs >= nextNs) {
      count++;
      fall(nowNs);
    } else if (!high && nowNs >= nextNs) {
      limit = Math.min(max, limit + Math.max(1, step * limit));
      nextNs = nowNs + intervalNs;
    }
    return new Decision((int) limit, String.format("waited %.2f ms in the mean", waitNs / 1e6));
  }

  private void fall(long nowNs) {
    limit = Math.max(least, limit - Math.max(1, step * limit));
    nextNs = nowNs + Math.round(intervalNs / Math.sqrt(count));
  }
}
