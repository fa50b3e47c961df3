package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Source {@code tables}: the figures of each table, from the MBeans {@code
 * org.apache.cassandra.metrics:type=Table,keyspace=KEYSPACE,scope=TABLE,name=METRIC}, which are the
 * same in 4.0, 4.1 and 5.0.
 *
 * <p>What costs is read with care: the percentiles of a table only when it was read since, and the
 * droppable ratio, which goes through all SSTables, every {@value #RATIO_S} s, or {@value
 * #CHANGED_RATIO_S} s where the table was flushed or compacted since. A table of a system keyspace
 * gets a row only when it was read, written, flushed or compacted since its last one.
 */
public final class TableStats implements Sample {
  private static final long RATIO_S = 30;
  private static final long RATIO_NS = TimeUnit.SECONDS.toNanos(RATIO_S);
  private static final long CHANGED_RATIO_S = 5;
  private static final long CHANGED_RATIO_NS = TimeUnit.SECONDS.toNanos(CHANGED_RATIO_S);
  private static final String P95 = "95thPercentile";

  private final Feed feed;
  private final Metrics metrics =
      new Metrics(
          "type=Table,keyspace=*,scope=*,name=*",
          Set.of(
              "ReadLatency",
              "WriteLatency",
              "ReadTotalLatency",
              "WriteTotalLatency",
              "LiveSSTableCount",
              "LiveDiskSpaceUsed",
              "TotalDiskSpaceUsed",
              "MemtableLiveDataSize",
              "MemtableSwitchCount",
              "PendingFlushes",
              "PendingCompactions",
              "BytesFlushed",
              "CompactionBytesWritten",
              "SSTablesPerReadHistogram",
              "TombstoneScannedHistogram",
              "LiveScannedHistogram"),
          bean -> bean.getKeyProperty("keyspace") + "." + bean.getKeyProperty("scope"));

  private Map<String, Kept> kept = new HashMap<>();

  /** What is known of a table since an earlier reading. */
  private static final class Kept {
    long activity = -1;
    Long reads;
    Double sstablesPerRead;
    Double tombstonesPerSlice;
    Double liveCellsPerSlice;
    Double droppableRatio;
    long ratioRead;
    long ratioWritten;
    boolean ratioKnown;
  }

  public TableStats(Feed feed) {
    this.feed = feed;
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public void read() {
    Map<String, Map<String, ObjectName>> tables = metrics.groups();
    Map<String, Kept> keptNow = new HashMap<>();
    tables.forEach(
        (table, beans) -> {
          Kept before = kept.getOrDefault(table, new Kept());
          keptNow.put(table, before);
          read(beans, before);
        });
    kept = keptNow;
  }

  private void read(Map<String, ObjectName> beans, Kept before) {
    ObjectName any = beans.values().iterator().next();
    String keyspace = any.getKeyProperty("keyspace");
    String table = any.getKeyProperty("scope");
    long now = System.nanoTime();
    Long reads = metrics.readLong(beans.get("ReadLatency"), "Count");
    Long writes = metrics.readLong(beans.get("WriteLatency"), "Count");
    Long flushed = metrics.readLong(beans.get("BytesFlushed"), "Count");
    Long compacted = metrics.readLong(beans.get("CompactionBytesWritten"), "Count");
    long activity = sum(reads, writes, flushed, compacted);
    if (activity == before.activity && isSystem(keyspace)) {
      return;
    }
    before.activity = activity;
    readHistograms(beans, before, reads);
    readRatio(keyspace, table, before, now, sum(flushed, compacted));
    Tables.tableSample(
        feed.rows(),
        feed.at(now),
        feed.node(),
        keyspace,
        table,
        reads,
        writes,
        microsToNanos(metrics.readLong(beans.get("ReadTotalLatency"), "Count")),
        microsToNanos(metrics.readLong(beans.get("WriteTotalLatency"), "Count")),
        metrics.readLong(beans.get("LiveSSTableCount"), "Value"),
        metrics.readLong(beans.get("LiveDiskSpaceUsed"), "Count"),
        metrics.readLong(beans.get("TotalDiskSpaceUsed"), "Count"),
        metrics.readLong(beans.get("MemtableLiveDataSize"), "Value"),
        metrics.readLong(beans.get("MemtableSwitchCount"), "Count"),
        metrics.readLong(beans.get("PendingFlushes"), "Count"),
        metrics.readLong(beans.get("PendingCompactions"), "Value"),
        flushed,
        compacted,
        before.sstablesPerRead,
        before.tombstonesPerSlice,
        before.liveCellsPerSlice,
        before.droppableRatio);
  }

  private void readHistograms(Map<String, ObjectName> beans, Kept before, Long reads) {
    if (reads == null || !Objects.equals(reads, before.reads)) {
      before.reads = reads;
      before.sstablesPerRead = metrics.readDouble(beans.get("SSTablesPerReadHistogram"), P95);
      before.tombstonesPerSlice = metrics.readDouble(beans.get("TombstoneScannedHistogram"), P95);
      before.liveCellsPerSlice = metrics.readDouble(beans.get("LiveScannedHistogram"), P95);
    }
  }

  private void readRatio(String keyspace, String table, Kept before, long now, long written) {
    long goodForNs = written == before.ratioWritten ? RATIO_NS : CHANGED_RATIO_NS;
    if (before.ratioKnown && now - before.ratioRead < goodForNs) {
      return;
    }
    before.ratioWritten = written;
    before.ratioKnown = true;
    before.ratioRead = now;
    try {
      ObjectName store =
          new ObjectName(
              "org.apache.cassandra.db:type=Tables,keyspace=" + keyspace + ",table=" + table);
      before.droppableRatio = metrics.readDouble(store, "DroppableTombstoneRatio");
    } catch (MalformedObjectNameException e) {
      before.droppableRatio = null;
    }
  }

  /** Keyspaces that Cassandra makes for itself. */
  private static boolean isSystem(String keyspace) {
    return keyspace.equals("system") || keyspace.startsWith("system_");
  }

  private static long sum(Long... counts) {
    long sum = 0;
    for (Long count : counts) {
      sum += count == null ? 0 : count;
    }
    return sum;
  }

  private static Long microsToNanos(Long micros) {
    return micros == null ? null : TimeUnit.MICROSECONDS.toNanos(micros);
  }
}
