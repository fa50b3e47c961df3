package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Source {@code tables}: the figures of each table, from the MBeans {@code
 * org.apache.cassandra.metrics:type=Table,keyspace=KEYSPACE,scope=TABLE,name=METRIC}, which are the
 * same in 4.0, 4.1 and 5.0.
 *
 * <p>What costs is read with care: the figures of a table only when something was done to it since,
 * its percentiles only when it was read, and what goes through all SSTables, and the rest of a
 * table at rest, seldom ({@link TableStore}). A table gets a row only when it was read, written,
 * flushed or compacted since its last one; at rest, one every {@value #AT_REST_S} s, and none where
 * it is Cassandra's own. Work after a rest gets two rows, of which the first ends the rest: so that
 * differences of neighbouring rows belong to the time between them.
 *
 * <p>With the slow figures of a table go its {@link Sstables}.
 *
 * <p>Where so many tables are in work that this takes more than {@value #BUDGET_MS} ms of CPU, the
 * rest of them get their counters alone, and their figures at the next look, in turn.
 */
public final class TableStats extends Sample {
  private static final String P95 = "95thPercentile";
  private static final long AT_REST_S = 60;
  private static final long AT_REST_NS = TimeUnit.SECONDS.toNanos(AT_REST_S);
  private static final long BUDGET_MS = 3;
  private static final long BUDGET_NS = TimeUnit.MILLISECONDS.toNanos(BUDGET_MS);

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
  private boolean hasSstables = true;

  /** The CPU time of this thread, ns, from which on there are no more figures in this look. */
  private long budgetEnds;

  private boolean isFirst = true;

  /** Where the next look begins: the first table that got no figures in this one. */
  private int from;

  /** The counters that every reading takes of a table. */
  private static final class Counters {
    static final Counters NONE = new Counters();

    final Long reads;
    final Long writes;
    final Long flushed;
    final Long compacted;

    /** Of flushes and compactions, bytes. */
    final long written;

    /** Grows with all that is done to the table; -1 before it was read. */
    final long activity;

    private Counters() {
      reads = null;
      writes = null;
      flushed = null;
      compacted = null;
      written = 0;
      activity = -1;
    }

    Counters(Metrics metrics, Map<String, Metric> beans) {
      reads = metrics.readLong(beans.get("ReadLatency"), "Count");
      writes = metrics.readLong(beans.get("WriteLatency"), "Count");
      flushed = metrics.readLong(beans.get("BytesFlushed"), "Count");
      compacted = metrics.readLong(beans.get("CompactionBytesWritten"), "Count");
      written = sum(flushed, compacted);
      activity = sum(reads, writes) + written;
    }
  }

  /** The state of a table kept from an earlier reading. */
  private static final class Kept {
    Counters counters = Counters.NONE;
    long rowAt;

    /** Whether its figures are not as new as its counters. */
    boolean owesFigures = true;

    /** When it was last found at rest without a row; 0 where the last look wrote one. */
    long restedUntil;

    Compactions compactions = Compactions.NONE;
    Long readsWithHistograms;
    Double sstablesPerRead;
    Double tombstonesPerSlice;
    Double liveCellsPerSlice;
    Long coordinatorReads;
    Double coordinatorReadMeanNs;
    Long coordinatorWrites;
    Double coordinatorWriteMeanNs;
    Long readTotalNs;
    Long writeTotalNs;
    Long sstableCount;
    Long liveDiskBytes;
    Long totalDiskBytes;
    Long memtableBytes;
    Long memtableSwitches;
    Long pendingFlushes;
    Long pendingCompactions;
    Long rowCacheHits;
    Long rowCacheMisses;
    final TableStore store = new TableStore();
    final Sstables sstables;

    Kept(Sstables sstables) {
      this.sstables = sstables;
    }
  }

  public TableStats(Feed feed) {
    super(feed);
  }

  @Override
  void read() {
    List<Map.Entry<String, Map<String, Metric>>> tables =
        new ArrayList<>(metrics.groups().entrySet());
    Map<String, Kept> keptNow = new HashMap<>();
    Map<String, Compactions> compactions = Compactions.now();
    // The first reading covers every table, whatever the CPU budget.
    budgetEnds = isFirst ? Long.MAX_VALUE : Feed.ownCpuNs() + BUDGET_NS;
    isFirst = tables.isEmpty();
    int begin = from < tables.size() ? from : 0;
    from = begin;
    boolean denied = false;
    for (int step = 0; step < tables.size(); step++) {
      int at = (begin + step) % tables.size();
      String table = tables.get(at).getKey();
      Map<String, Metric> beans = tables.get(at).getValue();
      Counters counters = new Counters(metrics, beans);
      Kept ofTable = kept.containsKey(table) ? kept.remove(table) : new Kept(new Sstables());
      if (counters.activity < ofTable.counters.activity) {
        // The table was dropped and created again, so its SSTables are new.
        ofTable = new Kept(ofTable.sstables);
      }
      keptNow.put(table, ofTable);
      Compactions running = compactions.getOrDefault(table, Compactions.NONE);
      boolean served = read(beans, ofTable, counters, running);
      if (!served && !denied) {
        denied = true;
        from = at;
      }
    }
    kept.forEach(this::drop);
    kept = keptNow;
  }

  /** Says that the SSTables of a table that is gone are gone too. */
  private void drop(String table, Kept kept) {
    int dot = table.indexOf('.');
    kept.sstables.read(feed, table.substring(0, dot), table.substring(dot + 1));
  }

  /** Whether it got all that it was due. */
  private boolean read(
      Map<String, Metric> beans, Kept kept, Counters counters, Compactions compactions) {
    Metric any = beans.values().iterator().next();
    String keyspace = any.key("keyspace");
    String table = any.key("scope");
    boolean isOwn = TableFacts.isOwn(keyspace);
    long now = System.nanoTime();
    boolean isAtRest =
        counters.activity == kept.counters.activity
            && compactions.running == kept.compactions.running;
    if (isAtRest && isOwn) {
      return true;
    }
    boolean isDue = kept.store.isDue(counters.activity, counters.written, now);
    kept.owesFigures |= isDue || !isAtRest || compactions.running > 0;
    boolean served = !kept.owesFigures || Feed.ownCpuNs() < budgetEnds;
    boolean hasNews = !isAtRest || (served && kept.owesFigures);
    if (!hasNews && now - kept.rowAt < AT_REST_NS) {
      kept.restedUntil = now;
      return served;
    }
    if (kept.restedUntil != 0 && !isAtRest) {
      write(keyspace, table, kept.restedUntil, kept);
    }
    kept.restedUntil = 0;
    kept.rowAt = now;
    kept.counters = counters;
    kept.compactions = compactions;
    if (!isAtRest) {
      // With their counters, so that the one over the other is a mean.
      kept.readTotalNs = microsToNanos(metrics.readLong(beans.get("ReadTotalLatency"), "Count"));
      kept.writeTotalNs = microsToNanos(metrics.readLong(beans.get("WriteTotalLatency"), "Count"));
    }
    boolean readsStore = served && isDue;
    if (readsStore) {
      kept.store.read(metrics, beans, keyspace, table);
    }
    if (served && kept.owesFigures) {
      kept.owesFigures = false;
      readFigures(beans, kept);
      readHistograms(beans, kept);
      readCoordinator(beans, kept);
    }
    write(keyspace, table, now, kept);
    if (readsStore && !isOwn && hasSstables) {
      hasSstables = kept.sstables.read(feed, keyspace, table);
    }
    return served;
  }

  private void write(String keyspace, String table, long at, Kept kept) {
    TableStore store = kept.store;
    Tables.tableSample(
        feed.rows(),
        feed.at(at),
        feed.node(),
        keyspace,
        table,
        kept.counters.reads,
        kept.counters.writes,
        kept.readTotalNs,
        kept.writeTotalNs,
        kept.sstableCount,
        kept.liveDiskBytes,
        kept.totalDiskBytes,
        kept.memtableBytes,
        kept.memtableSwitches,
        kept.pendingFlushes,
        kept.pendingCompactions,
        kept.counters.flushed,
        kept.counters.compacted,
        kept.sstablesPerRead,
        kept.tombstonesPerSlice,
        kept.liveCellsPerSlice,
        store.droppableRatio,
        store.percentRepaired,
        kept.coordinatorReads,
        kept.coordinatorReadMeanNs,
        kept.coordinatorWrites,
        kept.coordinatorWriteMeanNs,
        store.meanPartitionBytes,
        store.maxPartitionBytes,
        store.largestSstableBytes,
        store.sstablesByLevel,
        store.sstablesByWindow,
        store.compressionRatio,
        store.bloomFalsePositives,
        store.bloomFalseRatio,
        store.keyCacheHitRate,
        kept.rowCacheHits,
        kept.rowCacheMisses,
        kept.compactions.running,
        kept.compactions.bytes,
        kept.compactions.bytesDone,
        null,
        null,
        null);
  }

  private void readFigures(Map<String, Metric> beans, Kept kept) {
    kept.sstableCount = metrics.readLong(beans.get("LiveSSTableCount"), "Value");
    kept.liveDiskBytes = metrics.readLong(beans.get("LiveDiskSpaceUsed"), "Count");
    kept.totalDiskBytes = metrics.readLong(beans.get("TotalDiskSpaceUsed"), "Count");
    kept.memtableBytes = metrics.readLong(beans.get("MemtableLiveDataSize"), "Value");
    kept.memtableSwitches = metrics.readLong(beans.get("MemtableSwitchCount"), "Count");
    kept.pendingFlushes = metrics.readLong(beans.get("PendingFlushes"), "Count");
    kept.pendingCompactions = metrics.readLong(beans.get("PendingCompactions"), "Value");
    kept.rowCacheHits = metrics.readLong(beans.get("RowCacheHit"), "Count");
    kept.rowCacheMisses = metrics.readLong(beans.get("RowCacheMiss"), "Count");
  }

  private void readHistograms(Map<String, Metric> beans, Kept kept) {
    Long reads = kept.counters.reads;
    if (reads == null || !Objects.equals(reads, kept.readsWithHistograms)) {
      kept.readsWithHistograms = reads;
      kept.sstablesPerRead = metrics.readDouble(beans.get("SSTablesPerReadHistogram"), P95);
      kept.tombstonesPerSlice = metrics.readDouble(beans.get("TombstoneScannedHistogram"), P95);
      kept.liveCellsPerSlice = metrics.readDouble(beans.get("LiveScannedHistogram"), P95);
    }
  }

  private void readCoordinator(Map<String, Metric> beans, Kept before) {
    Metric readBean = beans.get("CoordinatorReadLatency");
    Long reads = metrics.readLong(readBean, "Count");
    if (!Objects.equals(reads, before.coordinatorReads)) {
      before.coordinatorReads = reads;
      before.coordinatorReadMeanNs = microsToNanos(metrics.readDouble(readBean, "Mean"));
    }
    Metric writeBean = beans.get("CoordinatorWriteLatency");
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
