package io.helenus.agent.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The settings in the recorder's START frame. */
public final class Start {
  /** Added to System.nanoTime() to get the time of a row, in ns. */
  public final long epochOffsetNs;

  /** The node's name in the recording. */
  public final String node;

  /** The sampling interval, ms. */
  public final long intervalMs;

  /** The shortest stall that gets a row, ms. */
  public final long stallBoundMs;

  /**
   * The names of the files that a profiler writes for this recorder begin with this; null for none.
   */
  public final String profilerFiles;

  /** The sources to start. */
  public final List<String> sources;

  private Start(Map<?, ?> json) {
    epochOffsetNs = number(json, "epoch_offset_ns", null, Long.MIN_VALUE, Long.MAX_VALUE);
    intervalMs = number(json, "interval_ms", 1000L, 10, 600_000);
    stallBoundMs = number(json, "stall_bound_ms", 10L, 1, 60_000);
    if (!(json.get("node") instanceof String)) {
      throw new IllegalArgumentException("START needs \"node\"");
    }
    node = (String) json.get("node");
    Object files = json.get("profiler_files");
    profilerFiles = files instanceof String && !((String) files).isEmpty() ? (String) files : null;
    if (!(json.get("sources") instanceof List)) {
      throw new IllegalArgumentException("START needs \"sources\"");
    }
    List<String> names = new ArrayList<>();
    for (Object name : (List<?>) json.get("sources")) {
      names.add(String.valueOf(name));
    }
    sources = List.copyOf(names);
  }

  /**
   * @throws IllegalArgumentException if the text is no START
   */
  static Start parse(String json) {
    Object value = Json.parse(json);
    if (value instanceof Map) {
      return new Start((Map<?, ?>) value);
    }
    throw new IllegalArgumentException("START is no JSON object");
  }

  private static long number(Map<?, ?> json, String name, Long otherwise, long low, long high) {
    Object value = json.containsKey(name) ? json.get(name) : otherwise;
    if (!(value instanceof Long) || (Long) value < low || (Long) value > high) {
      throw new IllegalArgumentException("START needs \"" + name + "\" as a whole number in range");
    }
    return (Long) value;
  }
}
