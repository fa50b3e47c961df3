package io.helenus.agent.tuning;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;

/** Current figures of a table of this node and its running compactions, read from MBeans. */
final class TableFigures {
  private static final String P95 = "95thPercentile";

  private TableFigures() {}

  /** The figures by the columns of the table {@code table_stats}; unknown ones are null. */
  static Map<String, Object> of(TableBean store) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("read_ns", System.nanoTime());
    figures.put("reads", metric(store, "ReadLatency", "Count"));
    figures.put("writes", metric(store, "WriteLatency", "Count"));
    figures.put("read_total_ns", micros(metric(store, "ReadTotalLatency", "Count")));
    figures.put("sstables", metric(store, "LiveSSTableCount", "Value"));
    figures.put("live_disk_bytes", metric(store, "LiveDiskSpaceUsed", "Count"));
    figures.put("total_disk_bytes", metric(store, "TotalDiskSpaceUsed", "Count"));
    figures.put("pending_compactions", metric(store, "PendingCompactions", "Value"));
    figures.put("bytes_compacted", metric(store, "CompactionBytesWritten", "Count"));
    figures.put("sstables_per_read_p95", metric(store, "SSTablesPerReadHistogram", P95));
    figures.put("tombstones_per_slice_p95", metric(store, "TombstoneScannedHistogram", P95));
    figures.put("droppable_ratio", number(store.bean, "DroppableTombstoneRatio"));
    figures.put("running", running(store));
    return figures;
  }

  /** The progress of each running compaction of the table, bytes. */
  private static List<Map<String, Object>> running(TableBean store) {
    ObjectName manager = Beans.name("org.apache.cassandra.db:type=CompactionManager");
    Object compactions = Beans.getOrNull(manager, "Compactions");
    List<Map<String, Object>> running = new ArrayList<>();
    if (compactions instanceof List) {
      for (Object compaction : (List<?>) compactions) {
        Map<?, ?> compactionMap = (Map<?, ?>) compaction;
        if (store.keyspace.equals(compactionMap.get("keyspace"))
            && store.table.equals(compactionMap.get("columnfamily"))
            && "bytes".equals(compactionMap.get("unit"))) {
          Map<String, Object> one = new LinkedHashMap<>();
          one.put("task", compactionMap.get("taskType"));
          one.put("done_bytes", Long.valueOf(String.valueOf(compactionMap.get("completed"))));
          one.put("total_bytes", Long.valueOf(String.valueOf(compactionMap.get("total"))));
          running.add(one);
        }
      }
    }
    return running;
  }

  private static Number metric(TableBean store, String metric, String attribute) {
    return number(
        Beans.name(
            "org.apache.cassandra.metrics:type=Table,keyspace="
                + store.keyspace
                + ",scope="
                + store.table
                + ",name="
                + metric),
        attribute);
  }

  private static Number number(ObjectName bean, String attribute) {
    Object value = Beans.getOrNull(bean, attribute);
    return value instanceof Number ? (Number) value : null;
  }

  private static Long micros(Number micros) {
    return micros == null ? null : TimeUnit.MICROSECONDS.toNanos(micros.longValue());
  }
}
