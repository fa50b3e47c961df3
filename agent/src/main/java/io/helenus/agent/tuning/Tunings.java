package io.helenus.agent.tuning;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The settings of this node that were changed through the agent, and the commands for them. The
 * thread "helenus-agent-leases" restores a setting when its lease ends.
 */
public final class Tunings {
  private static final long RETRY_MS = 10_000;

  private final Consumer<String> log;
  private final Runnable afterLease;
  private final Map<String, Tuning> tunings = new LinkedHashMap<>();
  private ScheduledExecutorService leases;

  /**
   * @param afterLease called when a lease has ended and its tuning was removed
   */
  public Tunings(Consumer<String> log, Runnable afterLease) {
    this.log = log;
    this.afterLease = afterLease;
  }

  /** Answers a command whose name begins with {@code tune.}. */
  public synchronized Object answer(String what, Map<?, ?> given) {
    switch (what) {
      case "tune.read":
        return read(Setting.of(given));
      case "tune.apply":
        return apply(given);
      case "tune.list":
        return tunings.values().stream().map(Tuning::state).collect(Collectors.toList());
      case "tune.renew":
        return renew(given);
      case "tune.undo":
        return undo(given);
      case "tune.figures":
        return TableFigures.of(TableBean.of(String.valueOf(given.get("table"))));
      default:
        throw new Refusal(
            "there is no command " + what,
            "there are tune.read, tune.apply, tune.list, tune.renew, tune.undo, tune.figures");
    }
  }

  public synchronized boolean isEmpty() {
    return tunings.isEmpty();
  }

  private static Object read(Setting setting) {
    Map<String, Object> read = new LinkedHashMap<>();
    read.put("value", setting.read());
    read.put("schema", setting.schema());
    read.put("host_id", Beans.getOrNull(Beans.name(Beans.STORAGE), "LocalHostId"));
    read.put("started_ms", ManagementFactory.getRuntimeMXBean().getStartTime());
    return read;
  }

  private Object apply(Map<?, ?> given) {
    String id = String.valueOf(given.get("id"));
    Setting setting = Setting.of(given);
    for (Tuning tuning : tunings.values()) {
      if (tuning.id.equals(id) || tuning.isOf(setting)) {
        throw new Refusal(
            called(setting) + " is tuned already", "undo that first (helenus tune undo)");
      }
    }
    Object before = setting.read();
    if (given.containsKey("before") && !canonical(given.get("before")).equals(before)) {
      throw new Refusal(
          called(setting) + " has been set to " + Json.write(before) + " by somebody else just now",
          "check whether you still want to change it, and try again");
    }
    long leaseMs = given.get("lease_ms") instanceof Long ? (Long) given.get("lease_ms") : 0;
    Object schema = setting.schema();
    write(setting, canonical(given.get("value")), before);
    Object set = setting.read();
    if (set.equals(before)) {
      throw new Refusal(
          called(setting) + " is " + Json.write(before) + " already", "nothing has changed");
    }
    Tuning tuning =
        new Tuning(id, setting, before, set, schema, TimeUnit.MILLISECONDS.toNanos(leaseMs));
    tunings.put(id, tuning);
    if (leaseMs > 0) {
      watch(tuning, leaseMs);
    }
    return tuning.state();
  }

  /** Restarts the lease, with its former length or the length that the command gives. */
  private Object renew(Map<?, ?> given) {
    Tuning tuning = tuning(given);
    long leaseMs = given.get("lease_ms") instanceof Long ? (Long) given.get("lease_ms") : 0;
    tuning.renew(leaseMs > 0 ? TimeUnit.MILLISECONDS.toNanos(leaseMs) : tuning.leaseNs());
    if (leaseMs > 0) {
      watch(tuning, leaseMs);
    }
    return tuning.state();
  }

  /** Writes a value. If that fails halfway, restores the value before. */
  private static void write(Setting setting, Object value, Object before) {
    try {
      setting.write(value);
    } catch (Refusal e) {
      if (!setting.read().equals(before)) {
        setting.write(before);
      }
      throw e;
    }
  }

  /** Undoes a tuning of this agent, or else the one that the command describes. */
  private Object undo(Map<?, ?> given) {
    String id = String.valueOf(given.get("id"));
    Tuning tuning = tunings.get(id);
    Object table = tuning == null ? given.get("table") : tuning.setting.table();
    Map<String, Object> undone = new LinkedHashMap<>();
    if (table != null && TableBean.find(String.valueOf(table)) == null) {
      undone.put("outcome", "dropped");
      undone.put("now", null);
      forget(id);
      return undone;
    }
    if (tuning == null) {
      Object before = canonical(given.get("before"));
      Object set = canonical(given.get("set"));
      Object schema = canonical(given.get("schema"));
      tuning = new Tuning(id, Setting.of(given), before, set, schema, 0);
    }
    undone.put("outcome", tuning.undo().name().toLowerCase(Locale.ROOT));
    undone.put("now", tuning.setting.read());
    forget(id);
    return undone;
  }

  private Tuning tuning(Map<?, ?> given) {
    Tuning tuning = tunings.get(String.valueOf(given.get("id")));
    if (tuning == null) {
      throw new Refusal(
          "there is no tuning " + given.get("id") + " in this node",
          "it was undone, or its lease has ended (tune.list)");
    }
    return tuning;
  }

  private void forget(String id) {
    tunings.remove(id);
    if (tunings.isEmpty() && leases != null) {
      leases.shutdownNow();
      leases = null;
    }
  }

  private void watch(Tuning tuning, long inMs) {
    if (leases == null) {
      leases =
          Executors.newSingleThreadScheduledExecutor(
              task -> {
                Thread thread = new Thread(task, "helenus-agent-leases");
                thread.setDaemon(true);
                thread.setContextClassLoader(null);
                return thread;
              });
    }
    tuning.endBy(leases.schedule(() -> end(tuning), inMs, TimeUnit.MILLISECONDS));
  }

  private void end(Tuning tuning) {
    synchronized (this) {
      if (tunings.get(tuning.id) != tuning) {
        return;
      }
      long leftMs = TimeUnit.NANOSECONDS.toMillis(tuning.leftNs());
      if (leftMs > 0) {
        watch(tuning, leftMs);
        return;
      }
      try {
        if (tuning.undo() == Tuning.Outcome.ALTERED) {
          log.accept(called(tuning.setting) + " was set by somebody else meanwhile and stays so");
        }
      } catch (Refusal e) {
        if (exists(tuning.setting)) {
          log.accept(called(tuning.setting) + " could not be put back: " + e.getMessage());
          watch(tuning, RETRY_MS);
          return;
        }
      }
      forget(tuning.id);
    }
    afterLease.run();
  }

  /** Whether the setting still exists: its table may have been dropped. */
  private static boolean exists(Setting setting) {
    try {
      setting.read();
      return true;
    } catch (Refusal e) {
      return false;
    }
  }

  private static String called(Setting setting) {
    return setting.table() == null
        ? setting.setting()
        : setting.setting() + " of " + setting.table();
  }

  /** A value of a command in the form that {@link Setting#read} returns. */
  private static Object canonical(Object value) {
    return value instanceof Map ? Setting.named((Map<?, ?>) value) : value;
  }
}
