package io.helenus.agent.valves.law;

/**
 * {@code jitter}: lowers the limit at early signs of an episode of jitter, and raises it after.
 *
 * <pre>
 *   gcShare &gt; gc                                     or
 *   var(log r, last 5 windows) &gt; jump * var(log r, calm)      with r the mean wait and stay
 *       limit = share * the mean number inside when calm
 *   else
 *       limit = max
 * </pre>
 *
 * <p>The idea is that requests that pile up during a pause make the next pause longer. The law
 * releases the limit after three windows without a sign, and at the latest after {@code
 * longest_ms}. Then the law leaves the server alone for as long as it held the limit, so that it
 * holds at most half of the time. On release the law doubles the limit each window, since a backlog
 * released at once would be an episode of its own.
 *
 * <p>Source: our own, after the jitter valve of the study of adaptive control valves (Louth, 2013),
 * whose law is not published.
 *
 * <p>Parameters: {@code gc} 0.1, a share of a window, 0.01 to 1; {@code jump} 4, a ratio of
 * variances, 1.5 to 1000; {@code share} 0.5, 0.05 to 1; {@code longest_ms} 2000, 100 to 60000;
 * {@code window_ms} 100, 20 to 5000.
 */
final class Jitter implements Law {
  private static final int RECENT = 5;
  private static final int QUIET = 3;
  private static final int FEWEST_CALM = 20;

  /** With fewer, response times vary by chance. */
  private static final int FEWEST_INSIDE = 8;

  /** The calm fades over about so many windows. */
  private static final double FADE = 1.0 / 100;

  /** Response times that hardly vary are not jittery when they vary a little more. */
  private static final double LEAST_VARIANCE = 0.01;

  private final double gc;
  private final double jump;
  private final double share;
  private final long longestNs;
  private final long windowNs;
  private final int min;
  private final int max;

  private final double[] recent = new double[RECENT];
  private int windows;
  private int calmWindows;
  private double calmVariance;
  private double calmInside;
  private double calmThere;
  private int limit;
  private boolean holding;
  private long sinceNs;
  private long freeUntilNs;
  private int quiet;

  Jitter(Parameters given, int min, int max) {
    gc = given.number("gc", 0.1, 0.01, 1);
    jump = given.number("jump", 4, 1.5, 1000);
    share = given.number("share", 0.5, 0.05, 1);
    longestNs = given.millis("longest_ms", 2000, 100, 60_000);
    windowNs = given.millis("window_ms", 100, 20, 5000);
    this.min = min;
    this.max = max;
    this.limit = max;
  }

  @Override
  public long windowNs() {
    return windowNs;
  }

  @Override
  public Decision next(Window window) {
    double variance = variance(window);
    String sign = sign(window, variance);
    quiet = sign == null ? quiet + 1 : 0;
    if (holding) {
      return hold(window, sign);
    }
    if (limit < max) {
      return release("letting go");
    }
    if (sign == null) {
      learn(window, variance);
      return new Decision(max, "no sign of jitter");
    }
    if (calmInside < FEWEST_INSIDE) {
      return new Decision(max, sign + ", but too few are inside to hold any back");
    }
    if (calmWindows < FEWEST_CALM || window.endNs < freeUntilNs) {
      return new Decision(max, sign + ", but it is too early to hold back");
    }
    holding = true;
    sinceNs = window.endNs;
    return held(sign);
  }

  private Decision hold(Window window, String sign) {
    boolean longest = window.endNs - sinceNs >= longestNs;
    // In an open loop requests would pile up, which is worse than any jitter.
    boolean pilesUp = window.there() > 2 * calmThere + 4;
    if (quiet < QUIET && !longest && !pilesUp) {
      return held(sign == null ? "waiting for calm" : sign);
    }
    holding = false;
    freeUntilNs = window.endNs + (window.endNs - sinceNs);
    return release(
        pilesUp ? "too many wait" : longest ? "held back for the longest time" : "calm again");
  }

  /** Those who waited are not let loose at once. */
  private Decision release(String why) {
    limit = Math.min(max, 2 * limit);
    return new Decision(limit, why);
  }

  private Decision held(String why) {
    limit = Math.max(min, Math.min(max, (int) Math.round(share * calmInside)));
    return new Decision(limit, why);
  }

  /** The sign that an episode begins; null if there is none. */
  private String sign(Window window, double variance) {
    if (window.gcShare > gc) {
      return String.format("%.0f %% of the window in collections", 100 * window.gcShare);
    }
    double bound = jump * Math.max(LEAST_VARIANCE, calmVariance);
    return windows >= RECENT && calmWindows >= FEWEST_CALM && variance > bound
        ? "response times vary more than when calm"
        : null;
  }

  /** Of the logarithm of the mean response time, over the last windows. */
  private double variance(Window window) {
    if (window.left() > 0) {
      double meanNs = (window.totalNs + window.waitNs) / (double) window.left();
      recent[windows % RECENT] = Math.log(Math.max(1, meanNs));
      windows++;
    }
    Sample sample = new Sample();
    for (int i = 0; i < Math.min(windows, RECENT); i++) {
      sample.add(recent[i]);
    }
    return sample.variance();
  }

  private void learn(Window window, double variance) {
    calmWindows++;
    double weight = Math.max(FADE, 1.0 / calmWindows);
    calmVariance += weight * (variance - calmVariance);
    calmInside += weight * (window.inFlight - calmInside);
    calmThere += weight * (window.there() - calmThere);
  }
}
