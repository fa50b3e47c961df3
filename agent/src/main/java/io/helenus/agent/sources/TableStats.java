package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;

/**
 * Source {@code tables}: the figures of each table, from the MBeans {@code
 * org.apache.cassandra.metrics:type=Table,keyspace=KEYSPACE,scope=TABLE,name=METRIC}, which are the
 * same in 4.0, 4.1 and 5.0.
 *
 * <p>What costs is read with care: the figures of a table only when something was done to it since,
 * its percentiles only when it was read, and what goes through all SSTables, and the rest of a
 * table at rest, seldom ({@link TableStore}). A table of a system keyspace gets a row only when it
 * was read, written, flushed or compacted since its last one.
 */
public final class TableStats extends Sample {
  private static final String P95 = "95thPercentile";

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
              "LiveScannedHistogram",
              "CoordinatorReadLatency",
              "CoordinatorWriteLatency",
              "RowCacheHit",
              "RowCacheMiss",
              "PercentRepaired",
              "MeanPartitionSize",
              "MaxPartitionSize",
              "MaxSSTableSize",
              "CompressionRatio",
              "BloomFilterFalsePositives",
              "BloomFilterFalseRatio",
              "KeyCacheHitRate"),
          bean -> bean.getKeyProperty("keyspace") + "." + bean.getKeyProperty("scope"));

  private Map<String, Kept> kept = new HashMap<>();

  /** What is known of a table since an earlier reading. */
  private static final class Kept {
    long activity = -1;
    Long reads;
    Double sstablesPerRead;
    Double tombstonesPerSlice;
    Double liveCellsPerSlice;
    Long coordinatorReads;
    Double coordinatorReadMeanNs;
    Long coordinatorWrites;
    Double coordinatorWriteMeanNs;
    Long readTotalNs;
    Long writeTotalNs;
    Long sstables;
    Long liveDiskBytes;
    Long totalDiskBytes;
    Long memtableBytes;
    Long memtableSwitches;
    Long pendingFlushes;
    Long pendingCompactions;
    Long rowCacheHits;
    Long rowCacheMisses;
    final TableStore store = new TableStore();
  }

  public TableStats(Feed feed) {
    super(feed);
  }

  @Override
  void read() {
    Map<String, Map<String, ObjectName>> tables = metrics.groups();
    Map<String, Kept> keptNow = new HashMap<>();
    Map<String, Compactions> compactions = Compactions.now();
    tables.forEach(
        (table, beans) -> {
          Kept before = kept.getOrDefault(table, new Kept());
          keptNow.put(
              table, read(beans, before, compactions.getOrDefault(table, Compactions.NONE)));
        });
    kept = keptNow;
  }

  /** What is known of the table now. */
  private Kept read(Map<String, ObjectName> beans, Kept before, Compactions compactions) {
    ObjectName any = beans.values().iterator().next();
    String keyspace = any.getKeyProperty("keyspace");
    String table = any.getKeyProperty("scope");
    long now = System.nanoTime();
    Long reads = metrics.readLong(beans.get("ReadLatency"), "Count");
    Long writes = metrics.readLong(beans.get("WriteLatency"), "Count");
    Long flushed = metrics.readLong(beans.get("BytesFlushed"), "Count");
    Long compacted = metrics.readLong(beans.get("CompactionBytesWritten"), "Count");
    long activity = sum(reads, writes, flushed, compacted);
    if (activity < before.activity) {
      // Dropped and made anew.
      before = new Kept();
    }
    if (activity == before.activity && TableFacts.isOwn(keyspace)) {
      return before;
    }
    TableStore store = before.store;
    boolean due = store.read(metrics, beans, keyspace, table, sum(flushed, compacted), now);
    if (due || activity != before.activity || compactions.running > 0) {
      readFigures(beans, before);
      readHistograms(beans, before, reads);
      readCoordinator(beans, before);
    }
    before.activity = activity;
    Tables.tableSample(
        feed.rows(),
        feed.at(now),
        feed.node(),
        keyspace,
        table,
        reads,
        writes,
        before.readTotalNs,
        before.writeTotalNs,
        before.sstables,
        before.liveDiskBytes,
        before.totalDiskBytes,
        before.memtableBytes,
        before.memtableSwitches,
        before.pendingFlushes,
        before.pendingCompactions,
        flushed,
        compacted,
        before.sstablesPerRead,
        before.tombstonesPerSlice,
        before.liveCellsPerSlice,
        store.droppableRatio,
        store.percentRepaired,
        before.coordinatorReads,
        before.coordinatorReadMeanNs,
        before.coordinatorWrites,
        before.coordinatorWriteMeanNs,
        store.meanPartitionBytes,
        store.maxPartitionBytes,
        store.largestSstableBytes,
        store.sstablesByLevel,
        store.sstablesByWindow,
        store.compressionRatio,
        store.bloomFalsePositives,
        store.bloomFalseRatio,
        store.keyCacheHitRate,
        before.rowCacheHits,
        before.rowCacheMisses,
        compactions.running,
        compactions.bytes,
        compactions.bytesDone,
        null,
        null,
        null);
    return before;
  }

  private void readFigures(Map<String, ObjectName> beans, Kept kept) {
    kept.readTotalNs = microsToNanos(metrics.readLong(beans.get("ReadTotalLatency"), "Count"));
    kept.writeTotalNs = microsToNanos(metrics.readLong(beans.get("WriteTotalLatency"), "Count"));
    kept.sstables = metrics.readLong(beans.get("LiveSSTableCount"), "Value");
    kept.liveDiskBytes = metrics.readLong(beans.get("LiveDiskSpaceUsed"), "Count");
    kept.totalDiskBytes = metrics.readLong(beans.get("TotalDiskSpaceUsed"), "Count");
    kept.memtableBytes = metrics.readLong(beans.get("MemtableLiveDataSize"), "Value");
    kept.memtableSwitches = metrics.readLong(beans.get("MemtableSwitchCount"), "Count");
    kept.pendingFlushes = metrics.readLong(beans.get("PendingFlushes"), "Count");
    kept.pendingCompactions = metrics.readLong(beans.get("PendingCompactions"), "Value");
    kept.rowCacheHits = metrics.readLong(beans.get("RowCacheHit"), "Count");
    kept.rowCacheMisses = metrics.readLong(beans.get("RowCacheMiss"), "Count");
  }

  private void readHistograms(Map<String, ObjectName> beans, Kept before, Long reads) {
    if (reads == null || !Objects.equals(reads, before.reads)) {
      before.reads = reads;
      before.sstablesPerRead = metrics.readDouble(beans.get("SSTablesPerReadHistogram"), P95);
      before.tombstonesPerSlice = metrics.readDouble(beans.get("TombstoneScannedHistogram"), P95);
      before.liveCellsPerSlice = metrics.readDouble(beans.get("LiveScannedHistogram"), P95);
    }
  }

  private void readCoordinator(Map<String, ObjectName> beans, Kept before) {
    ObjectName readBean = beans.get("CoordinatorReadLatency");
    Long reads = metrics.readLong(readBean, "Count");
    if (!Objects.equals(reads, before.coordinatorReads)) {
      before.coordinatorReads = reads;
      before.coordinatorReadMeanNs = microsToNanos(metrics.readDouble(readBean, "Mean"));
    }
    ObjectName writeBean = beans.get("CoordinatorWriteLatency");
    Long writes = metrics.readLong(writeBean, "Count");
    if (!Objects.equals(writes, before.coordinatorWrites)) {
      before.coordinatorWrites = writes;
      before.coordinatorWriteMeanNs = microsToNanos(metrics.readDouble(writeBean, "Mean"));
    }
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

  private static Double microsToNanos(Double micros) {
    return micros == null ? null : micros * 1e3;
  }
}
