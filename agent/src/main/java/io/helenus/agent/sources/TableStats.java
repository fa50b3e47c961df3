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
 * <p>Reading is limited to what has changed. Every reading takes the counters of each table. Other
 * figures are read only if the counters changed, percentiles only after reads, and figures that go
 * through all SSTables seldom ({@link TableStore}), together with {@link Sstables}.
 *
 * <p>A table gets a row only if it was read, written, flushed or compacted since its last row. An
 * idle table gets a row every {@value #IDLE_S} s, and none if it is one of Cassandra's own. The
 * first activity after idle time gets two rows, the first of them at the end of the idle time, so
 * that the difference of neighbouring rows belongs to the time between them.
 *
 * <p>A reading that has taken {@value #BUDGET_MS} ms of CPU time reads only the counters of the
 * remaining tables; the next reading begins with those tables.
 */
public final class TableStats extends SampledSource {
  private static final String P95 = "95thPercentile";
  private static final long IDLE_S = 60;
  private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(IDLE_S);
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

  private Map<String, TableState> states = new HashMap<>();
  private boolean hasSstables = true;

  /** The CPU time of this thread, ns, after which this reading takes no more figures. */
  private long budgetEnds;

  private boolean isFirst = true;

  /** Index of the table with which the next reading begins. */
  private int from;

  /** The counters of a table, which every reading takes. */
  private static final class Counters {
    static final Counters NONE = new Counters();

    final Long reads;
    final Long writes;
    final Long flushed;
    final Long compacted;

    /** Bytes written by flushes and compactions. */
    final long written;

    /** Grows with each read, write, flush and compaction; -1 before the first reading. */
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

  /** The figures of a table as last read. */
  private static final class TableState {
    Counters counters = Counters.NONE;
    long rowAt;

    /** Whether its figures are older than its counters. */
    boolean needsFigures = true;

    /** Start of the idle time without rows; 0 if the last reading wrote a row. */
    long idleUntil;

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

    TableState(Sstables sstables) {
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
    Map<String, TableState> statesNow = new HashMap<>();
    Map<String, Compactions> compactions = Compactions.now();
    // The first reading covers every table, whatever the CPU budget.
    budgetEnds = isFirst ? Long.MAX_VALUE : Feed.ownCpuNs() + BUDGET_NS;
    isFirst = tables.isEmpty();
    int begin = from < tables.size() ? from : 0;
    from = begin;
    boolean isFull = false;
    for (int step = 0; step < tables.size(); step++) {
      int at = (begin + step) % tables.size();
      String table = tables.get(at).getKey();
      Map<String, Metric> beans = tables.get(at).getValue();
      Counters counters = new Counters(metrics, beans);
      TableState ofTable =
          states.containsKey(table) ? states.remove(table) : new TableState(new Sstables());
      if (counters.activity < ofTable.counters.activity) {
        // The table was dropped and created again, so its SSTables are new.
        ofTable = new TableState(ofTable.sstables);
      }
      statesNow.put(table, ofTable);
      Compactions running = compactions.getOrDefault(table, Compactions.NONE);
      boolean isComplete = read(beans, ofTable, counters, running);
      if (!isComplete && !isFull) {
        isFull = true;
        from = at;
      }
    }
    states.forEach(this::drop);
    states = statesNow;
  }

  /** Writes that the SSTables of a dropped table are gone. */
  private void drop(String table, TableState state) {
    int dot = table.indexOf('.');
    state.sstables.read(feed, table.substring(0, dot), table.substring(dot + 1));
  }

  /** Reads a table. Returns whether all its due figures were read. */
  private boolean read(
      Map<String, Metric> beans, TableState state, Counters counters, Compactions compactions) {
    Metric any = beans.values().iterator().next();
    String keyspace = any.key("keyspace");
    String table = any.key("scope");
    boolean isOwn = TableFacts.isOwn(keyspace);
    long now = System.nanoTime();
    boolean isIdle =
        counters.activity == state.counters.activity
            && compactions.running == state.compactions.running;
    if (isIdle && isOwn) {
      return true;
    }
    boolean isDue = state.store.isDue(counters.activity, counters.written, now);
    state.needsFigures |= isDue || !isIdle || compactions.running > 0;
    boolean isComplete = !state.needsFigures || Feed.ownCpuNs() < budgetEnds;
    boolean hasNews = !isIdle || (isComplete && state.needsFigures);
    if (!hasNews && now - state.rowAt < IDLE_NS) {
      state.idleUntil = now;
      return isComplete;
    }
    if (state.idleUntil != 0 && !isIdle) {
      write(keyspace, table, state.idleUntil, state);
    }
    state.idleUntil = 0;
    state.rowAt = now;
    state.counters = counters;
    state.compactions = compactions;
    if (!isIdle) {
      // Read together with the counters, so that their quotient is a correct mean.
      state.readTotalNs = microsToNanos(metrics.readLong(beans.get("ReadTotalLatency"), "Count"));
      state.writeTotalNs = microsToNanos(metrics.readLong(beans.get("WriteTotalLatency"), "Count"));
    }
    boolean readsStore = isComplete && isDue;
    if (readsStore) {
      state.store.read(metrics, beans, keyspace, table);
    }
    if (isComplete && state.needsFigures) {
      state.needsFigures = false;
      readFigures(beans, state);
      readHistograms(beans, state);
      readCoordinator(beans, state);
    }
    write(keyspace, table, now, state);
    if (readsStore && !isOwn && hasSstables) {
      hasSstables = state.sstables.read(feed, keyspace, table);
    }
    return isComplete;
  }

  private void write(String keyspace, String table, long at, TableState state) {
    TableStore store = state.store;
    Tables.tableSample(
        feed.rows(),
        feed.at(at),
        feed.node(),
        keyspace,
        table,
        state.counters.reads,
        state.counters.writes,
        state.readTotalNs,
        state.writeTotalNs,
        state.sstableCount,
        state.liveDiskBytes,
        state.totalDiskBytes,
        state.memtableBytes,
        state.memtableSwitches,
        state.pendingFlushes,
        state.pendingCompactions,
        state.counters.flushed,
        state.counters.compacted,
        state.sstablesPerRead,
        state.tombstonesPerSlice,
        state.liveCellsPerSlice,
        store.droppableRatio,
        store.percentRepaired,
        state.coordinatorReads,
        state.coordinatorReadMeanNs,
        state.coordinatorWrites,
        state.coordinatorWriteMeanNs,
        store.meanPartitionBytes,
        store.maxPartitionBytes,
        store.largestSstableBytes,
        store.sstablesByLevel,
        store.sstablesByWindow,
        store.compressionRatio,
        store.bloomFalsePositives,
        store.bloomFalseRatio,
        store.keyCacheHitRate,
        state.rowCacheHits,
        state.rowCacheMisses,
        state.compactions.running,
        state.compactions.bytes,
        state.compactions.bytesDone,
        null,
        null,
        null);
  }

  private void readFigures(Map<String, Metric> beans, TableState state) {
    state.sstableCount = metrics.readLong(beans.get("LiveSSTableCount"), "Value");
    state.liveDiskBytes = metrics.readLong(beans.get("LiveDiskSpaceUsed"), "Count");
    state.totalDiskBytes = metrics.readLong(beans.get("TotalDiskSpaceUsed"), "Count");
    state.memtableBytes = metrics.readLong(beans.get("MemtableLiveDataSize"), "Value");
    state.memtableSwitches = metrics.readLong(beans.get("MemtableSwitchCount"), "Count");
    state.pendingFlushes = metrics.readLong(beans.get("PendingFlushes"), "Count");
    state.pendingCompactions = metrics.readLong(beans.get("PendingCompactions"), "Value");
    state.rowCacheHits = metrics.readLong(beans.get("RowCacheHit"), "Count");
    state.rowCacheMisses = metrics.readLong(beans.get("RowCacheMiss"), "Count");
  }

  private void readHistograms(Map<String, Metric> beans, TableState state) {
    Long reads = state.counters.reads;
    if (reads == null || !Objects.equals(reads, state.readsWithHistograms)) {
      state.readsWithHistograms = reads;
      state.sstablesPerRead = metrics.readDouble(beans.get("SSTablesPerReadHistogram"), P95);
      state.tombstonesPerSlice = metrics.readDouble(beans.get("TombstoneScannedHistogram"), P95);
      state.liveCellsPerSlice = metrics.readDouble(beans.get("LiveScannedHistogram"), P95);
    }
  }

  private void readCoordinator(Map<String, Metric> beans, TableState before) {
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
