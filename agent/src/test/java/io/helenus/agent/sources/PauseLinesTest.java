package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.helenus.agent.recording.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;

class PauseLinesTest {
  private final Frames frames = new Frames();
  private final Feed feed = frames.feed("pauses");

  private List<Schema.Row> rows(PauseLines lines, String... text) {
    for (String line : text) {
      lines.take(line);
    }
    lines.expire();
    feed.flush();
    return frames.take();
  }

  private PauseLines of(String collectors) {
    return new PauseLines(feed, collectors);
  }

  @Test
  void aPauseEndsWithItsLine() {
    List<Schema.Row> rows =
        rows(
            of("G1 Young Generation, G1 Old Generation"),
            "[5000000000ns] GC(38) Pause Young (Normal) (G1 Evacuation Pause) 824M->533M(1024M)"
                + " 109.330ms",
            "[5000100000ns] Safepoint \"G1CollectForAllocation\", Time since last: 1 ns, Reaching"
                + " safepoint: 47711 ns, Cleanup: 128320 ns, At safepoint: 110722088 ns, Total:"
                + " 110898119 ns",
            "[6000000000ns] GC(39) Concurrent Mark Cycle 12.000ms",
            "[6000000000ns] Application time: 1.0 seconds");
    assertEquals(2, rows.size());
    Schema.Row pause = rows.get(0);
    assertEquals(109_330_000, pause.number("duration_ns"));
    assertEquals(feed.at(5_000_000_000L), pause.endNs());
    assertEquals("G1New", pause.get("collector"));
    assertEquals("G1 Evacuation Pause", pause.get("cause"));
    assertEquals(824L << 20, pause.number("heap_before_bytes"));
    assertEquals(533L << 20, pause.number("heap_after_bytes"));
    assertEquals(38, pause.number("gc_id"));
    Schema.Row safepoint = rows.get(1);
    assertEquals("safepoint", safepoint.get("kind"));
    assertEquals(110_898_119, safepoint.number("duration_ns"));
    assertEquals(feed.at(5_000_100_000L), safepoint.endNs());
    assertEquals(47_711, safepoint.number("time_to_safepoint_ns"));
    assertEquals("G1CollectForAllocation", safepoint.get("collector"));
  }

  @Test
  void aSafepointOfJdk21SaysMore() {
    String line =
        "[9000ns] Safepoint \"ICBufferFull\", Time since last: 10 ns, Reaching safepoint: 20 ns,"
            + " Cleanup: 30 ns, At safepoint: 40 ns, Leaving safepoint: 50 ns, Total: 140 ns,"
            + " Threads: 0 runnable, 12 total";
    assertEquals(140, rows(of("G1"), line).get(0).number("duration_ns"));
  }

  @Test
  void aSafepointIsWhereItWasThoughItsLineIsLate() {
    List<Schema.Row> rows =
        rows(
            of("G1"),
            "[1000000ns] Safepoint \"Cleanup\", Time since last: 7 ns, Reaching safepoint: 1 ns,"
                + " Cleanup: 2 ns, At safepoint: 3 ns, Total: 6 ns",
            "[5000000ns] Safepoint \"Cleanup\", Time since last: 100000 ns, Reaching safepoint:"
                + " 1 ns, Cleanup: 2 ns, At safepoint: 3 ns, Total: 6 ns");
    assertEquals(feed.at(1_100_000), rows.get(1).number("start_ns"));
  }

  @Test
  void aSafepointBeforeJdk13IsTwoLines() {
    Schema.Row safepoint =
        rows(
                of("ParNew, ConcurrentMarkSweep"),
                "[1000ns] Entering safepoint region: RevokeBias",
                "[9000000ns] Leaving safepoint region",
                "[9100000ns] Total time for which application threads were stopped: 0.0081000"
                    + " seconds, Stopping threads took: 0.0000123 seconds")
            .get(0);
    assertEquals(8_100_000, safepoint.number("duration_ns"));
    assertEquals(12_300, safepoint.number("time_to_safepoint_ns"));
    assertEquals("RevokeBias", safepoint.get("collector"));
  }

  @Test
  void pausesOfZWaitForTheEndOfTheCollection() {
    PauseLines lines = of("ZGC Cycles, ZGC Pauses");
    assertEquals(List.of(), rows(lines, "[700000ns] GC(1) Y: Pause Mark Start 0.007ms"));
    assertEquals(
        List.of(), rows(lines, "[800000ns] GC(1) Y: Young Generation 126M(49%)->80M(31%) 0.005s"));
    String end = "[900000ns] GC(1) Major Collection (System.gc()) 126M(49%)->74M(29%) 0.02s";
    Schema.Row pause = rows(lines, end).get(0);
    assertEquals(7_000, pause.number("duration_ns"));
    assertEquals("ZGC Major", pause.get("collector"));
    assertEquals("System.gc()", pause.get("cause"));
    assertEquals(74L << 20, pause.number("heap_after_bytes"));
  }

  @Test
  void whatNeverComesIsNotWaitedForForever() {
    PauseLines lines = of("Shenandoah Cycles, Shenandoah Pauses");
    String line = "[700000ns] GC(1) Pause Init Mark (unload classes) 0.008ms";
    assertEquals(List.of(), rows(lines, line));
    for (int look = 0; look < 9; look++) {
      assertEquals(List.of(), rows(lines));
    }
    Schema.Row pause = rows(lines).get(0);
    assertEquals("Shenandoah", pause.get("collector"));
    assertNull(pause.get("cause"));
    assertNull(pause.get("heap_after_bytes"));
  }

  @Test
  void aFullCollectionIsOfTheOldGeneration() {
    String line = "[700000000ns] GC(7) Pause Full (System.gc()) 0B->900K(1G) 12.000ms";
    Schema.Row pause = rows(of("PS Scavenge, PS MarkSweep"), line).get(0);
    assertEquals("ParallelOld", pause.get("collector"));
    assertEquals("System.gc()", pause.get("cause"));
    assertEquals(0, pause.number("heap_before_bytes"));
    assertEquals(900L << 10, pause.number("heap_after_bytes"));
  }
}
