package io.helenus.agent.control;

import io.helenus.agent.Hook;
import io.helenus.agent.core.Json;
import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.executors.Executors;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Points;
import io.helenus.agent.points.Preset;
import io.helenus.agent.points.Reach;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import io.helenus.agent.probes.Measures;
import io.helenus.agent.probes.Probes;
import io.helenus.agent.trial.TrialCommands;
import io.helenus.agent.tuning.Tunings;
import io.helenus.agent.valves.LawMaker;
import io.helenus.agent.valves.Valves;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * All that changes the server: its valves, executors, probes and tunings, and the commands that
 * they are changed by.
 *
 * <p>It lives until the last of them is gone, and leaves nothing.
 */
final class Control {
  private static final double BOUND_PERCENT = 2;
  private static final long THRESHOLD_NS = 1_000;

  private final Points points;
  private final Weaving weaving;
  private final Crossings crossings = new Crossings();
  private final Valves valves;
  private final Executors executors;
  private final Tunings tunings;
  private final TrialCommands trialCommands = new TrialCommands();
  private final Consumer<String> log;
  private final String preset;
  private Probes probes;
  private boolean ended;
  private volatile Runnable afterLease = () -> {};

  /**
   * @throws Refusal when this JVM can't be woven
   */
  Control(Instrumentation instrumentation, LawMaker laws, Consumer<String> log) {
    this.log = log;
    Class<?> hook = Reach.hook();
    // Of our own class this loader has another one, with the same constant unless it is of another
    // version; the server's is the one that counts.
    if (hook == null || version(hook) != Hook.VERSION) {
      throw new Refusal(
          "this JVM has had an agent of another version, whose hook stays in it",
          "restart the server, or use the helenus of that version");
    }
    Reach reach = new Reach(hook);
    Preset named = Preset.ofServer();
    preset = named.name;
    points = new Points(instrumentation, reach, named);
    weaving = new Weaving(instrumentation, reach, log);
    valves = new Valves(points, weaving, crossings, laws, log);
    executors = new Executors(points, weaving, crossings, log, () -> afterLease.run());
    tunings = new Tunings(log, () -> afterLease.run());
    if (!Bridge.hold(hook, crossings, executors)) {
      throw new Refusal(
          "another agent holds the hook of this JVM", "detach it, or wait until it has ended");
    }
  }

  private static int version(Class<?> hook) {
    try {
      return hook.getField("VERSION").getInt(null);
    } catch (ReflectiveOperationException e) {
      return -1;
    }
  }

  /** Null when this control has ended, and another is to be made. */
  synchronized Map<String, Object> execute(Map<?, ?> command) {
    if (ended) {
      return null;
    }
    Map<String, Object> reply = new LinkedHashMap<>();
    try {
      reply.put("ok", answer(command));
    } catch (Refusal e) {
      reply.put("error", e.getMessage());
      reply.put("hint", e.hint);
    } catch (Throwable e) {
      log.accept("the command " + Json.write(command) + " failed: " + e);
      reply.put("error", "it failed: " + e);
      reply.put("hint", "nothing is known to have changed; ask for valve.list and tune.list");
    }
    return reply;
  }

  private Object answer(Map<?, ?> command) throws InterruptedException {
    Map<Object, Object> given = new LinkedHashMap<>(command);
    String what = String.valueOf(given.remove("do"));
    weaving.mayDropCode(Boolean.TRUE.equals(given.remove("cold")));
    switch (what) {
      case "valve.add":
        return valves.add(given);
      case "valve.set":
        return valves.set(given);
      case "valve.list":
        return valves.list();
      case "valve.remove":
        return removeValve(given);
      case "valve.rows":
        return valves.rowsAfter(number(given, "after", 0, 0, Long.MAX_VALUE));
      case "lease.renew":
        valves.renew(given.containsKey("name") ? String.valueOf(given.get("name")) : null);
        executors.renew();
        return valves.list();
      case "executor.set":
        return executors.set(given);
      case "executor.list":
        return executors.list();
      case "executor.remove":
        return removeExecutor(given);
      case "probes.start":
        return startProbes(given);
      case "probes.read":
        return readProbes();
      case "probes.stop":
        return stopProbes();
      case "points.find":
        return find(given);
      default:
        if (what.startsWith("tune.")) {
          return tunings.answer(what, given);
        }
        if (TrialCommands.answers(what)) {
          return trialCommands.answer(what, given);
        }
        throw new Refusal(
            "there is no command " + what,
            "there are valve.add, valve.set, valve.list, valve.remove, valve.rows, lease.renew,"
                + " executor.set, executor.list, executor.remove, probes.start, probes.read,"
                + " probes.stop, points.find, and those for tune and try");
    }
  }

  private Object removeValve(Map<?, ?> given) {
    if (Boolean.TRUE.equals(given.get("all"))) {
      valves.removeAll();
    } else {
      valves.remove(String.valueOf(given.get("name")));
    }
    return valves.list();
  }

  private Object removeExecutor(Map<?, ?> given) throws InterruptedException {
    if (Boolean.TRUE.equals(given.get("all"))) {
      executors.removeAll();
    } else {
      executors.remove(String.valueOf(given.get("stage")));
    }
    return executors.list();
  }

  private Object startProbes(Map<?, ?> given) {
    if (probes != null) {
      throw new Refusal("probes are on already", "stop them first (probes.stop)");
    }
    int atMost = (int) number(given, "at_most", Points.BOUND, 1, 10_000);
    List<Point> found = new ArrayList<>();
    if (given.get("at") instanceof List) {
      for (Object at : (List<?>) given.get("at")) {
        found.addAll(points.find(String.valueOf(at), atMost));
      }
    } else {
      found.addAll(points.named());
    }
    if (found.isEmpty()) {
      throw new Refusal("there are no points to meter", "name some (at)");
    }
    double boundPercent =
        given.get("bound_percent") instanceof Number
            ? ((Number) given.get("bound_percent")).doubleValue()
            : BOUND_PERCENT;
    if (!(boundPercent > 0 && boundPercent <= 100)) {
      throw new Refusal("bound_percent is " + boundPercent, "give a number from 0 to 100");
    }
    Measures measures =
        new Measures(
            Boolean.TRUE.equals(given.get("cpu")), Boolean.TRUE.equals(given.get("allocation")));
    long thresholdNs = number(given, "threshold_ns", THRESHOLD_NS, 0, Long.MAX_VALUE);
    probes = new Probes(crossings, weaving, found, measures, boundPercent / 100, thresholdNs, log);
    return found.stream().map(Control::told).collect(Collectors.toList());
  }

  private Object readProbes() {
    return probes == null ? null : ProbeReport.of(probes);
  }

  private Object stopProbes() throws InterruptedException {
    if (probes == null) {
      throw new Refusal("no probes are on", "start some (probes.start)");
    }
    Probes stopping = probes;
    probes = null;
    stopping.stop();
    return ProbeReport.of(stopping);
  }

  private Object find(Map<?, ?> given) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("preset", preset);
    int atMost = (int) number(given, "at_most", Points.BOUND, 1, 10_000);
    List<Point> found =
        given.get("pattern") == null
            ? points.named()
            : points.find(String.valueOf(given.get("pattern")), atMost);
    answer.put("points", found.stream().map(Control::told).collect(Collectors.toList()));
    return answer;
  }

  private static Map<String, Object> told(Point point) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("point", point.name);
    told.put("method", point.toString());
    told.put("gate", point.whyNoGate == null);
    told.put("why_no_gate", point.whyNoGate);
    told.put("refuse", point.mayRefuse);
    return told;
  }

  private static long number(Map<?, ?> given, String name, long otherwise, long low, long high) {
    Object value = given.containsKey(name) ? given.get(name) : (Object) otherwise;
    if (!(value instanceof Long) || (Long) value < low || (Long) value > high) {
      throw new Refusal(name + " is " + value, "give a whole number from " + low + " to " + high);
    }
    return (Long) value;
  }

  /** Sets the callback that runs when a lease has ended, which may leave this control idle. */
  void afterLease(Runnable then) {
    afterLease = then;
  }

  /** The current state by name, for commands that watch. */
  Map<String, Map<String, Object>> valves() {
    Map<String, Map<String, Object>> states = new LinkedHashMap<>();
    valves.list().forEach(state -> states.put(String.valueOf(state.get("valve")), state));
    return states;
  }

  /** Ends it if nothing of it is left in the server. Returns whether it has ended. */
  synchronized boolean endIfIdle() {
    if (!ended
        && valves.isEmpty()
        && executors.isEmpty()
        && probes == null
        && tunings.isEmpty()
        && trialCommands.isIdle()) {
      ended = true;
      Bridge.release(Reach.hook());
    }
    return ended;
  }
}
