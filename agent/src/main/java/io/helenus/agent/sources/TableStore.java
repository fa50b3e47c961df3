package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The figures of one table that go through all its SSTables, and those that only its store's MBean
 * {@code org.apache.cassandra.db:type=Tables,keyspace=KEYSPACE,table=TABLE} has: they move slowly
 * and are read every {@value #EVERY_S} s, every {@value #CHANGED_S} s while the table is flushed or
 * compacted, and every {@value #AT_REST_S} s where nothing was done to it.
 */
final class TableStore {
  private static final long EVERY_S = 30;
  private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(EVERY_S);
  private static final long AT_REST_S = 300;
  private static final long AT_REST_NS = TimeUnit.SECONDS.toNanos(AT_REST_S);
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
  private long doneThen;
  private long writtenThen;
  private long readNow;
  private long doneNow;
  private long writtenNow;

  /**
   * Whether it is time to read them. Reading them then counts from this moment.
   *
   * @param done reads and all else that was done to the table, as it counts it
   * @param written of that what flushes and compactions wrote
   */
  boolean isDue(long done, long written, long now) {
    long every = done == doneThen ? AT_REST_NS : written == writtenThen ? EVERY_NS : CHANGED_NS;
    if (known && now - readAt < every) {
      return false;
    }
    doneNow = done;
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
    doneThen = doneNow;
    writtenThen = writtenNow;
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
    // Not a number is what a table without SSTables gives.
    boolean isNumber = droppable instanceof Double && !((Double) droppable).isNaN();
    droppableRatio = isNumber ? (Double) droppable : null;
  }

  /** As JSON, without the empty levels at the end. */
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
