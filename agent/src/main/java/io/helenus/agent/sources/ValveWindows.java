package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import io.helenus.agent.recording.Tables;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Source {@code valves}: the measurements and decisions of this JVM's valves, a row a window. */
public final class ValveWindows extends SampledSource {
  private final UnaryOperator<String> control;
  private final long sinceNs = System.nanoTime();
  private long last;

  /**
   * @param control executes a command in the agent that holds the valves; gives null if there is
   *     none
   */
  public ValveWindows(Feed feed, UnaryOperator<String> control) {
    super(feed);
    this.control = control;
  }

  @Override
  void read() {
    String reply = control.apply("{\"do\":\"valve.rows\",\"after\":" + last + "}");
    if (reply == null) {
      return;
    }
    Object ok = ((Map<?, ?>) Json.parse(reply)).get("ok");
    if (!(ok instanceof Map)) {
      throw new IllegalStateException(reply);
    }
    long first = number(ok, "first");
    for (Object row : (List<?>) ((Map<?, ?>) ok).get("rows")) {
      long sequence = number(row, "sequence");
      // Another agent may hold the valves since the last reading.
      long due = last == 0 ? sequence : Math.max(last + 1, first);
      if (sequence > due) {
        feed.lose(sequence - due, "more windows ended than are kept between two readings");
      }
      last = sequence;
      if (number(row, "end_ns") > sinceNs) {
        write((Map<?, ?>) row);
      }
    }
  }

  private void write(Map<?, ?> row) {
    Tables.valveWindow(
        feed.rows(),
        feed.at(number(row, "end_ns")),
        number(row, "interval_ns"),
        feed.node(),
        (String) row.get("valve"),
        (String) row.get("law"),
        (Long) row.get("limit"),
        (Long) row.get("next_limit"),
        real(row, "in_flight"),
        real(row, "waiting"),
        real(row, "elsewhere"),
        number(row, "completed"),
        number(row, "failed"),
        number(row, "refused"),
        number(row, "let_through"),
        number(row, "out_of_order"),
        real(row, "throughput_per_s"),
        (Long) row.get("mean_ns"),
        (Long) row.get("wait_mean_ns"),
        (Long) row.get("p50_ns"),
        (Long) row.get("p99_ns"),
        (Long) row.get("max_ns"),
        real(row, "gc_share"),
        Boolean.TRUE.equals(row.get("limited")),
        (String) row.get("state"),
        (String) row.get("reason"));
  }

  private static long number(Object row, String key) {
    return (Long) ((Map<?, ?>) row).get(key);
  }

  private static double real(Map<?, ?> row, String key) {
    return ((Number) row.get(key)).doubleValue();
  }
}
