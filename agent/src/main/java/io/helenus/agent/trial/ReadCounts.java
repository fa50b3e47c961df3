package io.helenus.agent.trial;

import io.helenus.agent.tuning.Beans;
import io.helenus.agent.tuning.TableBean;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;

/**
 * Cumulative histograms of a table's reads since the node started. The difference of two readings
 * describes the reads between them, unlike percentiles of the last minutes.
 */
final class ReadCounts {
  private ReadCounts() {}

  static Map<String, Object> of(TableBean table) {
    Map<String, Object> counts = new LinkedHashMap<>();
    counts.put("reads", Beans.get(metric(table, "ReadLatency"), "Count"));
    counts.put("read_total_us", Beans.get(metric(table, "ReadTotalLatency"), "Count"));
    counts.put("sstables_per_read", buckets(metric(table, "SSTablesPerReadHistogram")));
    counts.put("tombstones_per_slice", buckets(metric(table, "TombstoneScannedHistogram")));
    counts.put("live_per_slice", buckets(metric(table, "LiveScannedHistogram")));
    return counts;
  }

  /** Counts by bucket, with the bounds of Cassandra's EstimatedHistogram. */
  private static List<Long> buckets(ObjectName histogram) {
    List<Long> buckets = new ArrayList<>();
    for (long count : (long[]) Beans.invoke(histogram, "values", new Object[0])) {
      buckets.add(count);
    }
    return buckets;
  }

  private static ObjectName metric(TableBean table, String name) {
    return Beans.name(
        "org.apache.cassandra.metrics:type=Table,keyspace="
            + table.keyspace
            + ",scope="
            + table.table
            + ",name="
            + name);
  }
}
