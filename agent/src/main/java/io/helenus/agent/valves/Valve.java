package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Decision;
import io.helenus.agent.valves.law.Latencies;
import io.helenus.agent.valves.law.Law;
import io.helenus.agent.valves.law.Window;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A valve: measures window by window, asks its law for the next limit, and has that limit enforced.
 * After any failure the valve opens, and stays open until it is set again.
 */
final class Valve {
  /** A pause of the JVM does not count as time in which no request left. */
  private static final long LONGEST_TICK_NS = 100_000_000;

  private static final long NONE_WAITING = -1;

  private final Enforcement enforcement;
  private final GcTime gcTime = new GcTime();
  private Settings settings;
  private Law law;
  private int limit;

  /** Why the valve is open; null while it limits. */
  private String openReason;

  private boolean openByLease;
  private long renewedNs;
  private long tickedNs;
  private long windowStartNs;
  private ValveTotals before;
  private long gcBeforeMs;
  private double insideSum;
  private double waitingSum;
  private double elsewhereSum;
  private int samples;
  private boolean limited;
  private long leftBefore = NONE_WAITING;
  private long stuckNs;
  private volatile WindowRow last;

  Valve(Settings settings, Law law, Enforcement enforcement) {
    this.settings = settings;
    this.law = law;
    this.enforcement = enforcement;
    limit = law.first(settings.max);
    enforcement.policy(settings);
    enforcement.limit(limit);
    renewedNs = System.nanoTime();
    begin(renewedNs);
    tickedNs = renewedNs;
    before = enforcement.read();
  }

  Settings settings() {
    return settings;
  }

  /** Applies other settings. A valve that was open limits again. */
  synchronized void set(Settings settings, Law law) {
    enforcement.policy(settings);
    this.settings = settings;
    this.law = law;
    openReason = null;
    openByLease = false;
    stuckNs = 0;
    renewedNs = System.nanoTime();
    limit(Math.max(settings.min, Math.min(settings.max, law.first(limit))));
    begin(renewedNs);
    before = enforcement.read();
  }

  /** Restarts the lease. */
  synchronized void renew() {
    renewedNs = System.nanoTime();
    if (openByLease) {
      openReason = null;
      openByLease = false;
      limit(limit);
    }
  }

  /** Opens the valve; false if it is open already. */
  synchronized boolean open(String reason) {
    if (openReason != null) {
      return false;
    }
    openReason = reason;
    enforcement.limit(Gate.OPEN);
    return true;
  }

  synchronized void remove() {
    enforcement.remove();
  }

  /**
   * Samples the valve; called 100 times a second.
   *
   * @return the row of the window if it ends now, else null
   */
  synchronized WindowRow tick(long nowNs, long sequence) {
    int inside = enforcement.inside();
    int waiting = enforcement.waiting();
    insideSum += inside;
    waitingSum += waiting;
    elsewhereSum += enforcement.elsewhere();
    samples++;
    limited |= waiting > 0 && inside >= limit;
    if (settings.leaseNs > 0 && nowNs - renewedNs > settings.leaseNs && openReason == null) {
      open("the lease was not renewed");
      openByLease = true;
    }
    watch(nowNs, waiting);
    tickedNs = nowNs;
    return nowNs - windowStartNs < law.windowNs() ? null : close(nowNs, sequence);
  }

  private void watch(long nowNs, int waiting) {
    // Reading the counters of every thread is expensive, so it is done only while requests wait.
    long left = waiting > 0 ? enforcement.left() : NONE_WAITING;
    boolean stuck = waiting > 0 && left == leftBefore && openReason == null;
    stuckNs = stuck ? stuckNs + Math.min(LONGEST_TICK_NS, nowNs - tickedNs) : 0;
    leftBefore = left;
    if (stuckNs > settings.watchdogNs) {
      open("nothing came out for " + stuckNs / 1_000_000 + " ms while " + waiting + " waited");
    }
  }

  private WindowRow close(long nowNs, long sequence) {
    ValveTotals after = enforcement.read();
    boolean open = openReason != null;
    Window window = window(nowNs, after);
    Decision decision = open ? new Decision(limit, openReason) : law.next(window);
    int next = Math.max(settings.min, Math.min(settings.max, decision.limit));
    if (!open && next != limit) {
      limit(next);
    }
    WindowRow row =
        new WindowRow(
            sequence,
            settings.name,
            settings.law,
            window,
            after.letThrough - before.letThrough,
            after.outOfOrder - before.outOfOrder,
            open ? Gate.OPEN : next,
            decision.reason,
            open ? "open" : "on");
    before = after;
    begin(nowNs);
    last = row;
    return row;
  }

  private Window window(long nowNs, ValveTotals after) {
    double inside = insideSum / Math.max(1, samples);
    double waiting = waitingSum / Math.max(1, samples);
    long lengthNs = Math.max(1, nowNs - windowStartNs);
    long totalNs = after.totalNs - before.totalNs;
    long waitNs = after.waitNs - before.waitNs;
    if (settings.stage != null) {
      // Little's law (1961): the number inside times the time is the sum of the times inside.
      totalNs = (long) (inside * lengthNs);
      waitNs = (long) (waiting * lengthNs);
    }
    Latencies latencies = after.latenciesSince(before);
    long refused = after.refused - before.refused + after.letThrough - before.letThrough;
    double gcShare = Math.min(1, (gcTime.ms() - gcBeforeMs) * 1e6 / lengthNs);
    boolean waited = limited || waitNs > 0 && settings.stage == null;
    return Window.between(windowStartNs, nowNs, openReason == null ? limit : Gate.OPEN)
        .counts(after.completed - before.completed, after.failed - before.failed, refused)
        .occupancy(inside, waiting, waited)
        .elsewhere(elsewhereSum / Math.max(1, samples))
        .times(totalNs, waitNs, longest(latencies), latencies)
        .gcShare(gcShare)
        .build();
  }

  /** The upper end of the highest bucket that is not empty. */
  private static long longest(Latencies latencies) {
    int bucket = Latencies.BUCKETS - 1;
    while (bucket > 0 && latencies.count(bucket) == 0) {
      bucket--;
    }
    return latencies.count() == 0 ? 0 : Latencies.lowNs(bucket + 1) - 1;
  }

  private void begin(long nowNs) {
    windowStartNs = nowNs;
    gcBeforeMs = gcTime.ms();
    insideSum = 0;
    waitingSum = 0;
    elsewhereSum = 0;
    samples = 0;
    limited = false;
  }

  private void limit(int limit) {
    this.limit = limit;
    enforcement.limit(limit);
  }

  /** The current state, by the names of the protocol. */
  synchronized Map<String, Object> state() {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("valve", settings.name);
    state.put("at", settings.stage == null ? settings.at : null);
    state.put("stage", settings.stage);
    state.put("law", settings.law);
    state.put("parameters", settings.parameters);
    state.put("min", settings.min);
    state.put("max", settings.max);
    state.put("limit", openReason == null ? limit : null);
    state.put("in_flight", enforcement.inside());
    state.put("waiting", enforcement.waiting());
    state.put("state", openReason == null ? "on" : "open");
    state.put("open_reason", openReason);
    state.put("last", last == null ? null : last.values());
    return state;
  }
}
