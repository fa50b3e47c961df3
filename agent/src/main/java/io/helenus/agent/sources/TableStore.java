package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The expensive figures of one table: those that go through all its SSTables, and those that only
 * the MBean {@code org.apache.cassandra.db:type=Tables,keyspace=KEYSPACE,table=TABLE} has. They
 * change slowly and are read every {@value #EVERY_S} s, every {@value #CHANGED_S} s while the table
 * is flushed or compacted, and every {@value #IDLE_S} s while it is idle.
 */
final class TableStore {
  private static final long EVERY_S = 30;
  private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(EVERY_S);
  private static final long IDLE_S = 300;
  private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(IDLE_S);
  private static final long CHANGED_S = 5;
  private static final long CHANGED_NS = TimeUnit.SECONDS.toNanos(CHANGED_S);

  Double droppableRatio;
  Double percentRepaired;
  Long meanPartitionBytes;
  Long maxPartitionBytes;
  Long largestSstableBytes;
  String sstablesByLevel;
  String sstablesByWindow;
  Double compressionRatio;
  Long bloomFalsePositives;
  Double bloomFalseRatio;
  Double keyCacheHitRate;
  private boolean known;
  private long readAt;
  private long activityBefore;
  private long writtenBefore;
  private long readNow;
  private long activityNow;
  private long writtenNow;

  /**
   * Whether the figures are due. The next call of {@link #read} then counts from this moment.
   *
   * @param activity see {@code TableStats.Counters}
   * @param written bytes written by flushes and compactions
   */
  boolean isDue(long activity, long written, long now) {
    long every =
        activity == activityBefore ? IDLE_NS : written == writtenBefore ? EVERY_NS : CHANGED_NS;
    if (known && now - readAt < every) {
      return false;
    }
    activityNow = activity;
    writtenNow = written;
    readNow = now;
    return true;
  }

  /**
   * Reads them.
   *
   * @param beans the metrics of the table
   */
  void read(Metrics metrics, Map<String, Metric> beans, String keyspace, String table) {
    known = true;
    activityBefore = activityNow;
    writtenBefore = writtenNow;
    readAt = readNow;
    percentRepaired = metrics.readDouble(beans.get("PercentRepaired"), "Value");
    meanPartitionBytes = metrics.readLong(beans.get("MeanPartitionSize"), "Value");
    maxPartitionBytes = metrics.readLong(beans.get("MaxPartitionSize"), "Value");
    largestSstableBytes = metrics.readLong(beans.get("MaxSSTableSize"), "Value");
    compressionRatio = metrics.readDouble(beans.get("CompressionRatio"), "Value");
    bloomFalsePositives = metrics.readLong(beans.get("BloomFilterFalsePositives"), "Value");
    bloomFalseRatio = metrics.readDouble(beans.get("BloomFilterFalseRatio"), "Value");
    keyCacheHitRate = metrics.readDouble(beans.get("KeyCacheHitRate"), "Value");
    String store = "org.apache.cassandra.db:type=Tables,keyspace=" + keyspace + ",table=" + table;
    sstablesByLevel = counts(Cassandra.attribute(store, "SSTableCountPerLevel"));
    sstablesByWindow = counts(Cassandra.attribute(store, "SSTableCountPerTWCSBucket"));
    Object droppable = Cassandra.attribute(store, "DroppableTombstoneRatio");
    // A table without SSTables gives NaN.
    boolean isNumber = droppable instanceof Double && !((Double) droppable).isNaN();
    droppableRatio = isNumber ? (Double) droppable : null;
  }

  /** The counts as JSON, without zeros at the end. */
  private static String counts(Object value) {
    if (!(value instanceof int[])) {
      return null;
    }
    int[] all = (int[]) value;
    int length = all.length;
    while (length > 0 && all[length - 1] == 0) {
      length--;
    }
    List<Object> counts = new ArrayList<>();
    for (int at = 0; at < length; at++) {
      counts.add(all[at]);
    }
    return Json.write(counts);
  }
}
