package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.recording.Schema;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CassandraSourcesTest {
  private final FakeCassandra cassandra = new FakeCassandra();
  private final Frames frames = new Frames();
  private final Pools pools = new Pools(frames.feed("pools"));
  private final ClientRequests requests = new ClientRequests(frames.feed("client_requests"));
  private final TableStats tables = new TableStats(frames.feed("tables"));
  private final NodeMetrics node = new NodeMetrics(frames.feed("node_metrics"));
  private final Definitions definitions = new Definitions(frames.feed("definitions"));

  @AfterEach
  void unregister() throws Exception {
    cassandra.close();
  }

  private List<Schema.Row> read(SampledSource sample) throws Exception {
    sample.read();
    sample.feed.flush();
    return frames.take();
  }

  private void writes(String keyspace, String table, long count) throws Exception {
    cassandra.table(keyspace, table, "WriteLatency", "Count", count);
  }

  private FakeCassandra.Bean reads(String keyspace, String table, long count) throws Exception {
    return cassandra.table(keyspace, table, "ReadLatency", "Count", count);
  }

  @Test
  void aJvmThatIsNoCassandraHasNoRowsAndNoVersion() throws Exception {
    assertTrue(read(pools).isEmpty());
    assertTrue(read(tables).isEmpty());
    assertTrue(read(requests).isEmpty());
    assertTrue(read(node).isEmpty());
    assertTrue(read(definitions).isEmpty());
    assertNull(Cassandra.version());
  }

  @Test
  void versionIsTheNodesRelease() throws Exception {
    cassandra.set("org.apache.cassandra.db:type=StorageService", "ReleaseVersion", "5.0.9");
    assertEquals("5.0.9", Cassandra.version());
  }

  @Test
  void aPoolIsOneRow() throws Exception {
    cassandra.pool("request", "MutationStage", "ActiveTasks", "Value", 3);
    cassandra.pool("request", "MutationStage", "PendingTasks", "Value", 5L);
    cassandra.pool("request", "MutationStage", "CompletedTasks", "Value", 70L);
    cassandra.pool("request", "MutationStage", "CurrentlyBlockedTasks", "Count", 1L);
    cassandra.pool("request", "MutationStage", "TotalBlockedTasks", "Count", 9L);
    Schema.Row row = read(pools).get(0);
    assertEquals("MutationStage", row.get("pool"));
    assertEquals("request", row.get("kind"));
    assertEquals(3, row.number("active"));
    assertEquals(5, row.number("pending"));
    assertEquals(70, row.number("completed"));
    assertEquals(1, row.number("blocked"));
    assertEquals(9, row.number("total_blocked"));
    assertNull(row.get("max_size"));
    cassandra.pool("request", "MutationStage", "MaxPoolSize", "Value", 32);
    assertEquals(32, read(pools).get(0).number("max_size"));
  }

  @Test
  void aTableIsOneRowAndWhatItDoesNotTellIsNull() throws Exception {
    reads("ks", "t", 10);
    writes("ks", "t", 20);
    cassandra.table("ks", "t", "ReadTotalLatency", "Count", 1_500L);
    cassandra.table("ks", "t", "LiveSSTableCount", "Value", 4);
    cassandra.table("ks", "t", "SSTablesPerReadHistogram", "95thPercentile", 2.5);
    cassandra.table("ks", "t", "TombstoneScannedHistogram", "95thPercentile", Double.NaN);
    cassandra.set(
        "org.apache.cassandra.db:type=Tables,keyspace=ks,table=t", "DroppableTombstoneRatio", 0.25);
    Schema.Row row = read(tables).get(0);
    assertEquals("ks", row.get("keyspace"));
    assertEquals("t", row.get("table_name"));
    assertEquals(10, row.number("reads"));
    assertEquals(20, row.number("writes"));
    assertEquals(1_500_000, row.number("read_total_ns"));
    assertNull(row.get("write_total_ns"));
    assertEquals(4, row.number("sstables"));
    assertEquals(2.5, row.get("sstables_per_read_p95"));
    assertNull(row.get("tombstones_per_slice_p95"));
    assertEquals(0.25, row.get("droppable_ratio"));
  }

  private void ended(String scope, long count, long totalMicros) throws Exception {
    cassandra.clientRequest(scope, "Latency", count);
    cassandra.clientRequest(scope, "TotalLatency", totalMicros);
  }

  @Test
  void requestsAreThoseThatEndedSinceTheLastReading() throws Exception {
    ended("Read", 1_000, 5_000_000);
    ended("Read-LOCAL_QUORUM", 1_000, 5_000_000);
    ended("Write", 7, 70);
    assertTrue(read(requests).isEmpty(), "what was before is not counted");
    ended("Read", 1_004, 5_001_200);
    ended("Read-LOCAL_QUORUM", 1_004, 5_001_200);
    List<Schema.Row> rows = read(requests);
    assertEquals(1, rows.size(), "neither what rests nor what counts the same again");
    assertEquals("Read", rows.get(0).get("kind"));
    assertEquals(4, rows.get(0).number("count"));
    assertEquals(1_200_000, rows.get(0).number("total_ns"));
    assertTrue(rows.get(0).number("interval_ns") > 0);
    assertTrue(read(requests).isEmpty());
  }

  @Test
  void tablesComeAndGo() throws Exception {
    reads("ks", "one", 1);
    assertEquals(1, read(tables).size());
    reads("ks", "one", 2);
    reads("ks", "two", 1);
    assertEquals(2, read(tables).size());
    cassandra.drop("org.apache.cassandra.metrics:type=Table,keyspace=ks,scope=one");
    reads("ks", "two", 2);
    List<Schema.Row> left = read(tables);
    assertEquals(1, left.size());
    assertEquals("two", left.get(0).get("table_name"));
  }

  @Test
  void aSystemTableHasRowsOnlyWhenItWasActive() throws Exception {
    reads("system", "local", 1);
    reads("system_schema", "tables", 1);
    reads("ks", "t", 1);
    assertEquals(3, read(tables).size());
    assertTrue(read(tables).isEmpty());
    writes("system", "local", 2);
    assertEquals(1, read(tables).size());
    assertTrue(read(tables).isEmpty());
  }

  @Test
  void workAfterARestHasARowThatEndsTheRest() throws Exception {
    reads("ks", "t", 10);
    Schema.Row first = read(tables).get(0);
    assertTrue(read(tables).isEmpty(), "nothing was done to it");
    assertTrue(read(tables).isEmpty());
    reads("ks", "t", 17);
    List<Schema.Row> rows = read(tables);
    assertEquals(2, rows.size());
    assertEquals(10, rows.get(0).number("reads"));
    assertEquals(17, rows.get(1).number("reads"));
    assertTrue(first.number("time_ns") < rows.get(0).number("time_ns"));
    assertTrue(rows.get(0).number("time_ns") < rows.get(1).number("time_ns"));
    reads("ks", "t", 18);
    assertEquals(1, read(tables).size(), "there was no rest");
  }

  @Test
  void percentilesAreReadWhenTheTableWasReadSince() throws Exception {
    reads("ks", "t", 1);
    FakeCassandra.Bean histogram =
        cassandra.table("ks", "t", "SSTablesPerReadHistogram", "95thPercentile", 2.0);
    read(tables);
    assertEquals(1, histogram.reads.get());
    histogram.values.put("95thPercentile", 3.0);
    writes("ks", "t", 1);
    assertEquals(2.0, read(tables).get(0).get("sstables_per_read_p95"));
    assertEquals(1, histogram.reads.get());
    reads("ks", "t", 2);
    assertEquals(3.0, read(tables).get(0).get("sstables_per_read_p95"));
  }

  @Test
  void whatGoesThroughAllSstablesIsReadSeldom() throws Exception {
    reads("ks", "t", 1);
    FakeCassandra.Bean largest =
        cassandra.table("ks", "t", "MaxPartitionSize", "Value", 1_000_000L);
    cassandra.table("ks", "t", "CoordinatorReadLatency", "Count", 7L);
    cassandra.table("ks", "t", "CoordinatorReadLatency", "Mean", 250.5);
    String store = "org.apache.cassandra.db:type=Tables,keyspace=ks,table=t";
    cassandra.set(store, "SSTableCountPerLevel", new int[] {1, 10, 3, 0, 0});
    Schema.Row row = read(tables).get(0);
    assertEquals(1_000_000, row.number("max_partition_bytes"));
    assertEquals("[1,10,3]", row.get("sstables_by_level"));
    assertNull(row.get("sstables_by_window"));
    assertEquals(7, row.number("coordinator_reads"));
    assertEquals(250_500.0, row.get("coordinator_read_mean_ns"));
    reads("ks", "t", 2);
    assertEquals(1_000_000, read(tables).get(0).number("max_partition_bytes"));
    assertEquals(1, largest.reads.get());
    // The table was dropped and created again.
    reads("ks", "t", 1);
    read(tables);
    reads("ks", "t", 2);
    read(tables);
    assertEquals(2, largest.reads.get());
  }

  @Test
  void whatRunsIsAddedUpByTable() throws Exception {
    reads("ks", "t", 1);
    reads("ks", "u", 1);
    Map<String, String> task =
        Map.of(
            "keyspace", "ks",
            "columnfamily", "t",
            "unit", "bytes",
            "total", "100",
            "completed", "40");
    cassandra.set(
        "org.apache.cassandra.db:type=CompactionManager", "Compactions", List.of(task, task));
    List<Schema.Row> rows = read(tables);
    Schema.Row busy = rows.get(0).get("table_name").equals("t") ? rows.get(0) : rows.get(1);
    Schema.Row idle = rows.get(0) == busy ? rows.get(1) : rows.get(0);
    assertEquals(2, busy.number("running_compactions"));
    assertEquals(200, busy.number("compacting_bytes"));
    assertEquals(80, busy.number("compacted_bytes"));
    assertEquals(0, idle.number("running_compactions"));
  }

  @Test
  void aFigureOfTheNodeIsARowForItsScopeAndAttribute() throws Exception {
    String dropped = "org.apache.cassandra.metrics:type=DroppedMessage,scope=READ_REQ,name=Dropped";
    cassandra.set(dropped, "Count", 3L);
    cassandra.clientRequest("Read-LOCAL_QUORUM", "Timeouts", 9L);
    List<Schema.Row> rows = read(node);
    assertEquals(1, rows.size(), "what counts the same again is left out");
    assertEquals("DroppedMessage", rows.get(0).get("kind"));
    assertEquals("READ_REQ", rows.get(0).get("scope"));
    assertEquals("Count", rows.get(0).get("attribute"));
    assertEquals(3, rows.get(0).number("value"));
    cassandra.set(dropped, "Count", 4L);
    assertTrue(read(node).isEmpty(), "it is not time yet");
  }

  @Test
  void aTableAtRestCostsItsCountersAlone() throws Exception {
    writes("ks", "t", 1);
    FakeCassandra.Bean sstables = cassandra.table("ks", "t", "LiveSSTableCount", "Value", 4);
    assertEquals(4, read(tables).get(0).number("sstables"));
    sstables.values.put("Value", 5);
    assertTrue(read(tables).isEmpty());
    assertEquals(1, sstables.reads.get());
    writes("ks", "t", 2);
    assertEquals(5, read(tables).get(1).number("sstables"));
  }
}
