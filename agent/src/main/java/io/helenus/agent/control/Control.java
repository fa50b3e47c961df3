package io.helenus.agent.control;

import io.helenus.agent.Hook;
import io.helenus.agent.core.Json;
import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.executors.Executors;
import io.helenus.agent.points.HookAccess;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Points;
import io.helenus.agent.points.Preset;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import io.helenus.agent.probes.Measures;
import io.helenus.agent.probes.Probes;
import io.helenus.agent.trial.TrialCommands;
import io.helenus.agent.tuning.Tunings;
import io.helenus.agent.valves.LawFactory;
import io.helenus.agent.valves.Valves;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Everything that agents changed in this server (valves, executors, probes and tunings), and the
 * commands that change it.
 *
 * <p>A control ends when the last change is undone.
 */
final class Control {
  private static final double BOUND_PERCENT = 2;
  private static final long THRESHOLD_NS = 1_000;

  private final Points points;
  private final Weaving weaving;
  private final Dispatcher dispatcher = new Dispatcher();
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
  Control(Instrumentation instrumentation, LawFactory laws, Consumer<String> log) {
    this.log = log;
    Class<?> hook = HookAccess.hook();
    // This loader has a Hook class of its own, perhaps of another version, so the server's Hook is
    // asked.
    if (hook == null || version(hook) != Hook.VERSION) {
      throw new Refusal(
          "this JVM has had an agent of another version, whose hook stays in it",
          "restart the server, or use the helenus of that version");
    }
    HookAccess hookAccess = new HookAccess(hook);
    Preset named = Preset.ofServer();
    preset = named.name;
    points = new Points(instrumentation, hookAccess, named);
    weaving = new Weaving(instrumentation, hookAccess, log);
    valves = new Valves(points, weaving, dispatcher, laws, log);
    executors = new Executors(points, weaving, dispatcher, log, () -> afterLease.run());
    tunings = new Tunings(log, () -> afterLease.run());
    if (!Bridge.hold(hook, dispatcher, executors)) {
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

  /** Executes a command and returns the reply; null if this control has ended. */
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
    weaving.mayDeoptimize(Boolean.TRUE.equals(given.remove("cold")));
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
    probes = new Probes(dispatcher, weaving, found, measures, boundPercent / 100, thresholdNs, log);
    return found.stream().map(Control::describe).collect(Collectors.toList());
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
    answer.put("points", found.stream().map(Control::describe).collect(Collectors.toList()));
    return answer;
  }

  private static Map<String, Object> describe(Point point) {
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("point", point.name);
    described.put("method", point.toString());
    described.put("gate", point.whyNoGate == null);
    described.put("why_no_gate", point.whyNoGate);
    described.put("refuse", point.mayRefuse);
    return described;
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

  /** The current states of the valves by name. */
  Map<String, Map<String, Object>> valves() {
    Map<String, Map<String, Object>> states = new LinkedHashMap<>();
    valves.list().forEach(state -> states.put(String.valueOf(state.get("valve")), state));
    return states;
  }

  /** Ends this control if no change is left. Returns whether it has ended. */
  synchronized boolean endIfIdle() {
    if (!ended
        && valves.isEmpty()
        && executors.isEmpty()
        && probes == null
        && tunings.isEmpty()
        && trialCommands.isIdle()) {
      ended = true;
      Bridge.release(HookAccess.hook());
    }
    return ended;
  }
}
