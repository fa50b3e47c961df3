package io.helenus.agent.valves;

import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Points;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import io.helenus.agent.valves.law.Law;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * All valves. While there are any, the thread "helenus-agent-valves" samples them {@value
 * #TICKS_PER_S} times a second.
 */
public final class Valves {
  private static final int TICKS_PER_S = 100;
  private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1) / TICKS_PER_S;

  /** The number of rows kept: a minute of four valves with four windows a second. */
  private static final int ROWS_KEPT = 960;

  private final Points points;
  private final Weaving weaving;
  private final Dispatcher dispatcher;
  private final LawFactory laws;
  private final Consumer<String> log;
  private final GateOrder gateOrder = new GateOrder();
  private final Map<String, Valve> valves = new ConcurrentSkipListMap<>();
  private final Deque<WindowRow> rows = new ArrayDeque<>();

  /**
   * The sequence number of the first row, which differs from that of any other agent of this JVM.
   */
  private final long first = System.nanoTime();

  private long sequence = first - 1;
  private volatile Thread thread;

  public Valves(
      Points points,
      Weaving weaving,
      Dispatcher dispatcher,
      LawFactory laws,
      Consumer<String> log) {
    this.points = points;
    this.weaving = weaving;
    this.dispatcher = dispatcher;
    this.laws = laws;
    this.log = log;
  }

  /**
   * Adds a valve.
   *
   * @param given see {@link Settings}
   * @throws Refusal if it can't be added; nothing has changed then
   */
  public synchronized Map<String, Object> add(Map<?, ?> given) {
    Settings settings = new Settings(given);
    if (valves.containsKey(settings.name)) {
      throw new Refusal(
          "there is a valve " + settings.name + " already", "set it, or choose another name");
    }
    Law law = law(settings);
    Enforcement enforcement =
        settings.stage == null
            ? gate(settings)
            : new StageEnforcement(Stage.of(settings.stage), log);
    Valve valve;
    try {
      valve = new Valve(settings, law, enforcement);
    } catch (RuntimeException e) {
      enforcement.remove();
      throw e;
    }
    valves.put(settings.name, valve);
    if (thread == null) {
      thread = new Thread(this::run, "helenus-agent-valves");
      thread.setDaemon(true);
      thread.setContextClassLoader(null);
      thread.start();
    }
    return valve.state();
  }

  private Enforcement gate(Settings settings) {
    List<Point> found = new ArrayList<>();
    List<Double> weights = new ArrayList<>();
    for (String at : settings.at) {
      for (Point point : points.find(at, settings.atMost)) {
        if (point.whyNoGate != null) {
          throw new Refusal(
              "no gate may stand at " + point.method + ": " + point.whyNoGate,
              "measure it with a probe, or choose a point before it");
        }
        found.add(point);
        weights.add(settings.weight(at));
      }
    }
    WaitQueue queue =
        new WaitQueue(settings.order, weights.stream().mapToDouble(Double::doubleValue).toArray());
    return new GateEnforcement(dispatcher, weaving, gateOrder, found, settings, queue);
  }

  private Law law(Settings settings) {
    try {
      return laws.make(settings.law, settings.parameters, settings.min, settings.max);
    } catch (IllegalArgumentException e) {
      throw new Refusal(e.getMessage(), "see the laws and their parameters in docs/valves.md");
    }
  }

  /** Changes a valve while it limits. */
  public synchronized Map<String, Object> set(Map<?, ?> changes) {
    Valve valve = valve(String.valueOf(changes.get("name")));
    Settings settings = valve.settings().with(changes);
    Law law = law(settings);
    valve.set(settings, law);
    return valve.state();
  }

  public synchronized void remove(String name) {
    Valve valve = valve(name);
    valves.remove(name);
    valve.remove();
    if (valves.isEmpty()) {
      end();
    }
  }

  /** Removes all valves, also after a failure to remove one. */
  public synchronized void removeAll() {
    for (Map.Entry<String, Valve> entry : valves.entrySet()) {
      try {
        entry.getValue().remove();
      } catch (RuntimeException e) {
        log.accept("the valve " + entry.getKey() + " was not removed well: " + e);
      }
    }
    valves.clear();
    end();
  }

  private void end() {
    if (thread != null) {
      Thread ending = thread;
      thread = null;
      LockSupport.unpark(ending);
    }
  }

  /** Renews the lease of one valve, or of all when the name is null. */
  public synchronized void renew(String name) {
    if (name != null) {
      valve(name).renew();
    } else {
      valves.values().forEach(Valve::renew);
    }
  }

  public boolean isEmpty() {
    return valves.isEmpty();
  }

  public List<Map<String, Object>> list() {
    return valves.values().stream().map(Valve::state).collect(Collectors.toList());
  }

  /**
   * The rows after the one of this sequence number that are still kept, oldest first, and the
   * sequence number of the very first row.
   */
  public Map<String, Object> rowsAfter(long sequence) {
    synchronized (rows) {
      List<Map<String, Object>> kept =
          rows.stream()
              .filter(row -> row.sequence() > sequence)
              .map(WindowRow::values)
              .collect(Collectors.toList());
      return Map.of("first", first, "rows", kept);
    }
  }

  private Valve valve(String name) {
    Valve valve = valves.get(name);
    if (valve == null) {
      throw new Refusal(
          "there is no valve " + name,
          Nearest.hint(
              name,
              valves.keySet(),
              valves.isEmpty() ? "add one" : "there are " + String.join(", ", valves.keySet())));
    }
    return valve;
  }

  private void run() {
    while (thread == Thread.currentThread()) {
      LockSupport.parkNanos(TICK_NS);
      tick();
    }
  }

  private void tick() {
    for (Valve valve : valves.values()) {
      try {
        WindowRow row = valve.tick(System.nanoTime(), sequence + 1);
        if (row != null) {
          keep(row);
        }
      } catch (Throwable e) {
        if (valve.open("it failed: " + e)) {
          log.accept("the valve " + valve.settings().name + " is open: it failed: " + e);
        }
      }
    }
  }

  private void keep(WindowRow row) {
    synchronized (rows) {
      sequence = row.sequence();
      rows.add(row);
      if (rows.size() > ROWS_KEPT) {
        rows.remove();
      }
    }
  }
}
