package io.helenus.agent.probes;

import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Weaving;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The performance model: the probes that were asked for, and the thread "helenus-agent-probes",
 * which once a second looks what they cost and switches off those that cost too much. Switched off
 * is woven out: the method is as it was.
 */
public final class Probes {
  private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

  /** A probe as the model has it. */
  public static final class Metered {
    public final Probe probe;
    public final Point point;
    final int number;
    private volatile String offReason;
    private volatile long offNs;
    private long callsBefore;
    private long inherentBeforeNs;

    Metered(Probe probe, Point point, int number) {
      this.probe = probe;
      this.point = point;
      this.number = number;
    }

    /** Why it was switched off; null while it is on. */
    public String offReason() {
      return offReason;
    }

    /** When it was switched off, System.nanoTime(). */
    public long offNs() {
      return offNs;
    }
  }

  private final Crossings crossings;
  private final Weaving weaving;
  private final Consumer<String> log;
  private final Map<Integer, Metered> all = new TreeMap<>();
  private final Measures measures;
  private final Overhead.Bound bound;
  private volatile double costNs;
  private final Thread thread = new Thread(this::run, "helenus-agent-probes");
  private volatile double share;
  private volatile boolean stopped;
  private long lookedNs = System.nanoTime();

  /**
   * Weaves the probes in and begins to watch what they cost.
   *
   * @param boundShare all probes together at most, as a share of all CPUs, 0 to 1
   * @param thresholdNs below this inherent time per call a probe is no hotspot
   */
  public Probes(
      Crossings crossings,
      Weaving weaving,
      Collection<Point> points,
      Measures measures,
      double boundShare,
      long thresholdNs,
      Consumer<String> log) {
    this.crossings = crossings;
    this.weaving = weaving;
    this.log = log;
    this.measures = measures;
    int cpus = Runtime.getRuntime().availableProcessors();
    bound = new Overhead.Bound(boundShare, thresholdNs, cpus);
    costNs = Calibration.costNs(crossings) + measures.costNs();
    Map<Integer, Point> in = new LinkedHashMap<>();
    for (Point point : points) {
      int number = crossings.timedNumber();
      Probe probe =
          new Probe(point.name, number, crossings.groups(), measures.cpu, measures.allocation);
      crossings.site(number, probe, point.guard);
      all.put(number, new Metered(probe, point, number));
      in.put(number, point);
    }
    try {
      weaving.change(in, List.of());
    } catch (RuntimeException e) {
      in.keySet().forEach(number -> crossings.site(number, null, null));
      throw e;
    }
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
  }

  /** Weaves all out; what was counted can still be read. */
  public void stop() throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    thread.join();
    weaving.change(Map.of(), List.copyOf(all.keySet()));
    all.keySet().forEach(number -> crossings.site(number, null, null));
  }

  public Collection<Metered> all() {
    return all.values();
  }

  public Measures measures() {
    return measures;
  }

  /** The cost of metering one call on this machine, ns. */
  public double costNs() {
    return costNs;
  }

  /** The overhead of all probes in the last second, as a share of all CPUs. */
  public double share() {
    return share;
  }

  public double boundShare() {
    return bound.share;
  }

  public long thresholdNs() {
    return bound.thresholdNs;
  }

  private void run() {
    while (!stopped) {
      LockSupport.parkNanos(PERIOD_NS);
      long now = System.nanoTime();
      if (!stopped && now - lookedNs >= PERIOD_NS) {
        try {
          look(now - lookedNs);
        } catch (Throwable e) {
          log.accept("the probes were not looked at: " + e);
        }
        lookedNs = now;
      }
    }
  }

  private void look(long sinceNs) {
    crossings.forgetEndedThreads();
    List<Overhead.Use> uses = new ArrayList<>();
    for (Metered metered : all.values()) {
      Tally sum = new Tally();
      metered.probe.read().values().forEach(sum::add);
      long calls = sum.calls() - metered.callsBefore;
      long inherentNs = sum.inherentNs() - metered.inherentBeforeNs;
      metered.callsBefore = sum.calls();
      metered.inherentBeforeNs = sum.inherentNs();
      if (metered.offReason == null && calls > 0) {
        uses.add(
            new Overhead.Use(metered.number, calls * 1e9 / sinceNs, (double) inherentNs / calls));
      }
    }
    share = Overhead.share(uses, costNs, bound.cpus);
    if (share > bound.share) {
      // Measured while the JVM still compiled the code, it may be many times what it is now.
      costNs = Math.min(costNs, Calibration.costNs(crossings) + measures.costNs());
      share = Overhead.share(uses, costNs, bound.cpus);
    }
    Map<Integer, String> off = Overhead.tooMuch(uses, costNs, bound);
    if (!off.isEmpty()) {
      weaving.change(Map.of(), off.keySet());
      long now = System.nanoTime();
      off.forEach(
          (number, reason) -> {
            all.get(number).offNs = now;
            all.get(number).offReason = reason;
          });
    }
  }
}
