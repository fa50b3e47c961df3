package io.helenus.agent.probes;

import io.helenus.agent.dispatch.Dispatcher;
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
 * The performance model: the requested probes, and the thread "helenus-agent-probes", which checks
 * their overhead once a second and switches off those that cost too much. A probe that is switched
 * off is woven out: its method has its original bytecode.
 */
public final class Probes {
  private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

  /** A probe, its point, and when and why it was switched off. */
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

  private final Dispatcher dispatcher;
  private final Weaving weaving;
  private final Consumer<String> log;
  private final Map<Integer, Metered> all = new TreeMap<>();
  private final Measures measures;
  private final Overhead.Bound bound;
  private volatile double costNs;
  private final Thread thread = new Thread(this::run, "helenus-agent-probes");
  private volatile double share;
  private volatile boolean stopped;
  private long checkedNs = System.nanoTime();

  /**
   * Weaves the probes in and begins to check their overhead.
   *
   * @param boundShare all probes together at most, as a share of all CPUs, 0 to 1
   * @param thresholdNs below this inherent time per call a probe is no hotspot
   */
  public Probes(
      Dispatcher dispatcher,
      Weaving weaving,
      Collection<Point> points,
      Measures measures,
      double boundShare,
      long thresholdNs,
      Consumer<String> log) {
    this.dispatcher = dispatcher;
    this.weaving = weaving;
    this.log = log;
    this.measures = measures;
    int cpus = Runtime.getRuntime().availableProcessors();
    bound = new Overhead.Bound(boundShare, thresholdNs, cpus);
    costNs = Calibration.costNs(dispatcher) + measures.costNs();
    Map<Integer, Point> in = new LinkedHashMap<>();
    for (Point point : points) {
      int number = dispatcher.timedNumber();
      Probe probe =
          new Probe(point.name, number, dispatcher.groups(), measures.cpu, measures.allocation);
      dispatcher.register(number, probe, point.guard);
      all.put(number, new Metered(probe, point, number));
      in.put(number, point);
    }
    try {
      weaving.change(in, List.of());
    } catch (RuntimeException e) {
      in.keySet().forEach(number -> dispatcher.unregister(number));
      throw e;
    }
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
  }

  /** Weaves all probes out; their counts can still be read. */
  public void stop() throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    thread.join();
    weaving.change(Map.of(), List.copyOf(all.keySet()));
    all.keySet().forEach(number -> dispatcher.unregister(number));
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
      if (!stopped && now - checkedNs >= PERIOD_NS) {
        try {
          checkOverhead(now - checkedNs);
        } catch (Throwable e) {
          log.accept("the overhead of the probes was not checked: " + e);
        }
        checkedNs = now;
      }
    }
  }

  private void checkOverhead(long sinceNs) {
    dispatcher.forgetEndedThreads();
    List<Overhead.Activity> activities = new ArrayList<>();
    for (Metered metered : all.values()) {
      Tally sum = new Tally();
      metered.probe.read().values().forEach(sum::add);
      long calls = sum.calls() - metered.callsBefore;
      long inherentNs = sum.inherentNs() - metered.inherentBeforeNs;
      metered.callsBefore = sum.calls();
      metered.inherentBeforeNs = sum.inherentNs();
      if (metered.offReason == null && calls > 0) {
        activities.add(
            new Overhead.Activity(
                metered.number, calls * 1e9 / sinceNs, (double) inherentNs / calls));
      }
    }
    share = Overhead.share(activities, costNs, bound.cpus);
    if (share > bound.share) {
      // Calibrate again: while the JVM was still compiling the code, the measured cost was many
      // times higher.
      costNs = Math.min(costNs, Calibration.costNs(dispatcher) + measures.costNs());
      share = Overhead.share(activities, costNs, bound.cpus);
    }
    Map<Integer, String> off = Overhead.tooMuch(activities, costNs, bound);
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
