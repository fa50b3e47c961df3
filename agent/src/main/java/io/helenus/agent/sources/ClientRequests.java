package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Source {@code client_requests}: the number of requests that the coordinator completed since the
 * last reading and their total latency, from the MBeans {@code
 * org.apache.cassandra.metrics:type=ClientRequest,scope=KIND,name=METRIC}, which are the same in
 * 4.0, 4.1 and 5.0.
 *
 * <p>Both are counters and exact, unlike the histogram of latencies. Other scopes, such as one for
 * each consistency level, count the same requests again and are left out.
 */
public final class ClientRequests extends SampledSource {
  private static final Set<String> KINDS =
      Set.of("Read", "RangeSlice", "Write", "CASRead", "CASWrite");

  private final Metrics metrics =
      new Metrics(
          "type=ClientRequest,scope=*,name=*",
          Set.of("Latency", "TotalLatency"),
          bean -> bean.getKeyProperty("scope"));

  private final Map<String, Reading> before = new HashMap<>();

  /** The counters of a kind at a moment. */
  private static final class Reading {
    final long nanoTime;
    final long count;
    final long totalMicros;

    Reading(long nanoTime, long count, long totalMicros) {
      this.nanoTime = nanoTime;
      this.count = count;
      this.totalMicros = totalMicros;
    }
  }

  public ClientRequests(Feed feed) {
    super(feed);
  }

  @Override
  void read() {
    metrics
        .groups()
        .forEach(
            (kind, beans) -> {
              if (KINDS.contains(kind)) {
                read(kind, beans);
              }
            });
  }

  private void read(String kind, Map<String, Metric> beans) {
    long now = System.nanoTime();
    Long count = metrics.readLong(beans.get("Latency"), "Count");
    Long totalMicros = metrics.readLong(beans.get("TotalLatency"), "Count");
    if (count == null || totalMicros == null) {
      return;
    }
    Reading last = before.put(kind, new Reading(now, count, totalMicros));
    if (last == null || count <= last.count) {
      // The first reading has no difference, and an idle node no new requests.
      return;
    }
    Tables.clientRequests(
        feed.rows(),
        feed.at(now),
        now - last.nanoTime,
        feed.node(),
        kind,
        count - last.count,
        TimeUnit.MICROSECONDS.toNanos(totalMicros - last.totalMicros));
  }
}
