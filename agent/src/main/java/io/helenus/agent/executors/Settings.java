package io.helenus.agent.executors;

import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.valves.Stage;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The executor that a command requests for a stage. */
final class Settings {
  /** Stages whose tasks run in the shared pool, in no order among themselves. */
  private static final Set<Stage> STAGES =
      EnumSet.of(
          Stage.NATIVE_TRANSPORT,
          Stage.READ,
          Stage.MUTATION,
          Stage.COUNTER_MUTATION,
          Stage.VIEW_MUTATION);

  private static final String QUEUE_PER_THREAD = "queue-per-thread";
  private static final String BATCHED_DRAIN = "batched-drain";
  private static final List<String> KINDS = List.of(QUEUE_PER_THREAD, BATCHED_DRAIN);
  private static final long MOST_WORKERS = 1_024;
  private static final long BATCH = 16;
  private static final long MOST_BATCH = 10_000;

  final Stage stage;
  final String kind;
  final int workers;
  final boolean stealing;
  final int batch;

  /** Length of the lease; 0 for no limit. */
  final long leaseNs;

  Settings(Map<?, ?> given) {
    Map<Object, Object> left = new LinkedHashMap<>(given);
    stage = stage(left.remove("stage"));
    kind = kind(left.remove("kind"));
    // Read from the stage only by default: a stage without a task so far has no setting to read.
    Object count = left.remove("workers");
    workers = (int) number("workers", count == null ? stage.largest() : count, 1, MOST_WORKERS);
    Object stealing = left.remove("stealing");
    this.stealing = Boolean.TRUE.equals(stealing);
    Object batch = left.remove("batch");
    this.batch = (int) number("batch", batch == null ? BATCH : batch, 1, MOST_BATCH);
    if (kind.equals(QUEUE_PER_THREAD) ? batch != null : stealing != null) {
      throw new Refusal(
          kind + " has no " + (batch != null ? "batch" : "stealing"),
          "batch goes with batched-drain, stealing with queue-per-thread");
    }
    Object lease = left.remove("lease_ms");
    leaseNs =
        TimeUnit.MILLISECONDS.toNanos(
            number("lease_ms", lease == null ? 0L : lease, 0, TimeUnit.DAYS.toMillis(365)));
    if (!left.isEmpty()) {
      List<String> names = new ArrayList<>(List.of("stage", "kind", "workers", "stealing"));
      names.addAll(List.of("batch", "lease_ms"));
      String unknown = String.valueOf(left.keySet().iterator().next());
      throw new Refusal(
          "executor.set takes no " + unknown,
          Nearest.hint(unknown, names, "it takes " + String.join(", ", names)));
    }
  }

  private static Stage stage(Object name) {
    Stage stage = Stage.of(String.valueOf(name));
    if (!STAGES.contains(stage)) {
      throw new Refusal(
          "the executor of the stage " + stage + " can't be replaced: it is no pool of requests",
          "there are " + STAGES.stream().map(Stage::toString).collect(Collectors.joining(", ")));
    }
    return stage;
  }

  private static String kind(Object given) {
    String kind = String.valueOf(given);
    if (!KINDS.contains(kind)) {
      throw new Refusal(
          "there is no executor " + kind,
          Nearest.hint(kind, KINDS, "there are " + String.join(", ", KINDS)));
    }
    return kind;
  }

  private static long number(String name, Object value, long low, long high) {
    if (!(value instanceof Number)
        || ((Number) value).longValue() < low
        || ((Number) value).longValue() > high) {
      throw new Refusal(name + " is " + value, "give a whole number from " + low + " to " + high);
    }
    return ((Number) value).longValue();
  }

  TaskQueue queue() {
    return kind.equals(BATCHED_DRAIN)
        ? new BatchedDrain(batch)
        : new QueuePerThread(workers, stealing);
  }

  /** The settings by the names of the command. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("stage", stage.toString());
    map.put("kind", kind);
    map.put("workers", (long) workers);
    if (kind.equals(BATCHED_DRAIN)) {
      map.put("batch", (long) batch);
    } else {
      map.put("stealing", stealing);
    }
    map.put("lease_ms", TimeUnit.NANOSECONDS.toMillis(leaseNs));
    return map;
  }
}
