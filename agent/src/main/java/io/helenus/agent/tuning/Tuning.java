package io.helenus.agent.tuning;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A changed setting with its former value, to restore it. */
final class Tuning {
  /** The result of restoring the setting. */
  enum Outcome {
    /** The setting has its former value again. */
    UNDONE,
    /** The setting had been restored already. */
    GONE,
    /** The setting was changed since, here or in the schema, and keeps that value. */
    ALTERED
  }

  final String id;
  final Setting setting;

  /** When its lease ends, System.nanoTime(). */
  private long endsNs;

  private final Object before;
  private final Object set;

  /** The schema's value when the setting was changed; null if unknown. */
  private final Object schema;

  /** Length of the lease; 0 for none. */
  private long leaseNs;

  /** The scheduled restore; null for a tuning without a lease. */
  private Future<?> end;

  Tuning(String id, Setting setting, Object before, Object set, Object schema, long leaseNs) {
    this.id = id;
    this.setting = setting;
    this.before = before;
    this.set = set;
    this.schema = schema;
    renew(leaseNs);
  }

  /** Restarts the lease with this length. */
  void renew(long leaseNs) {
    this.leaseNs = leaseNs;
    endsNs = System.nanoTime() + leaseNs;
  }

  long leaseNs() {
    return leaseNs;
  }

  /** Sets the task that restores the setting at the end of the lease; cancels the one before. */
  void endBy(Future<?> end) {
    if (this.end != null) {
      this.end.cancel(false);
    }
    this.end = end;
  }

  long leftNs() {
    return Math.max(0, endsNs - System.nanoTime());
  }

  boolean isOf(Setting other) {
    return setting.setting().equals(other.setting())
        && Objects.equals(setting.table(), other.table());
  }

  /** Restores the former value, unless it was changed since. */
  Outcome undo() {
    Object schemaNow = setting.schema();
    if (schema != null && schemaNow != null && !schema.equals(schemaNow)) {
      return Outcome.ALTERED;
    }
    Object now = setting.read();
    if (now.equals(before)) {
      return Outcome.GONE;
    }
    if (!now.equals(set)) {
      return Outcome.ALTERED;
    }
    setting.write(before);
    return Outcome.UNDONE;
  }

  /** The state by the names of the protocol. */
  Map<String, Object> state() {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("id", id);
    state.put("setting", setting.setting());
    state.put("table", setting.table());
    state.put("before", before);
    state.put("set", set);
    state.put("schema", schema);
    state.put("lease_ms", TimeUnit.NANOSECONDS.toMillis(leaseNs));
    state.put("left_ms", leaseNs == 0 ? null : TimeUnit.NANOSECONDS.toMillis(leftNs()));
    return state;
  }
}
