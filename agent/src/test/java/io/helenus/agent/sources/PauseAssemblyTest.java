package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.recording.RowBuffer;
import io.helenus.agent.recording.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;

class PauseAssemblyTest {
  private final Frames frames = new Frames();
  private final RowBuffer rows = new RowBuffer((frame, count) -> frames.test(frame));
  private final PauseAssembly pauses = new PauseAssembly("127.0.0.1");

  /** Flushes with a clock that is 1,000 ahead of JFR's. */
  private List<Schema.Row> flush() {
    return flush(1_000);
  }

  private List<Schema.Row> flush(long offset) {
    pauses.write(rows, jfr -> jfr + offset, false);
    rows.flush();
    return frames.take();
  }

  @Test
  void aCollectionWithOnePauseIsOneRow() {
    pauses.heap(3, true, 90);
    pauses.heap(3, false, 20);
    pauses.pause(3, "GC Pause", true, 100, 8);
    pauses.collection(3, "G1New", "G1 Evacuation Pause");
    List<Schema.Row> written = flush();
    assertEquals(1, written.size());
    Schema.Row row = written.get(0);
    assertEquals(1_100, row.number("start_ns"));
    assertEquals(8, row.number("duration_ns"));
    assertEquals("gc", row.get("kind"));
    assertEquals(3L, row.get("gc_id"));
    assertEquals("G1New", row.get("collector"));
    assertEquals("G1 Evacuation Pause", row.get("cause"));
    assertNull(row.get("phase"));
    assertEquals(90L, row.get("heap_before_bytes"));
    assertEquals(20L, row.get("heap_after_bytes"));
    assertEquals("jfr", row.get("provider"));
    assertTrue(flush().isEmpty());
  }

  @Test
  void pausesOfAConcurrentCycleWaitForItsNameOnTheClockOfTheirOwnFlush() {
    pauses.pause(7, "Pause Mark Start", true, 100, 1);
    assertTrue(flush(1_000).isEmpty());
    pauses.pause(7, "Pause Mark End", true, 200, 2);
    pauses.heap(7, true, 50);
    pauses.heap(7, false, 40);
    pauses.collection(7, "Z", "Warmup");
    List<Schema.Row> written = flush(5_000);
    // Each as a whole, and by its name.
    assertEquals(4, written.size());
    assertNull(written.get(0).get("phase"));
    assertEquals("Pause Mark Start", written.get(1).get("phase"));
    assertEquals(1_100, written.get(1).number("start_ns"));
    assertEquals(5_200, written.get(3).number("start_ns"));
    assertEquals("Warmup", written.get(3).get("cause"));
    long stood =
        written.stream()
            .filter(row -> row.get("phase") == null)
            .mapToLong(row -> row.number("duration_ns"))
            .sum();
    assertEquals(3, stood);
  }

  @Test
  void aCollectionThatDoesNotEndGivesItsPausesWithoutACause() {
    pauses.pause(7, "Pause Remark", true, 100, 1);
    int flushes = 0;
    List<Schema.Row> written = flush();
    while (written.isEmpty() && flushes++ < 100) {
      written = flush();
    }
    assertEquals(2, written.size());
    assertNull(written.get(0).get("cause"));
    assertEquals(7L, written.get(0).get("gc_id"));
  }

  @Test
  void aSafepointStandsFromTheAskingToTheLastResumed() {
    pauses.threadsStand(10, 107);
    pauses.safepointBegins(10, 100);
    pauses.operation(10, "G1CollectForAllocation");
    assertTrue(flush().isEmpty());
    pauses.safepointEnded(10, 150);
    Schema.Row row = flush(2_000).get(0);
    assertEquals("safepoint", row.get("kind"));
    assertEquals(1_100, row.number("start_ns"));
    assertEquals(50, row.number("duration_ns"));
    assertEquals(7L, row.get("time_to_safepoint_ns"));
    assertEquals("G1CollectForAllocation", row.get("collector"));
    assertNull(row.get("gc_id"));
  }

  @Test
  void aSafepointOfWhichOnlyTheEndWasSeenIsNoRow() {
    pauses.safepointEnded(10, 150);
    assertTrue(flush().isEmpty());
    pauses.safepointBegins(11, 160);
    pauses.safepointEnded(11, 170);
    assertEquals(1, flush().size());
  }

  @Test
  void whatNeverEndsIsBounded() {
    for (int i = 0; i < 100_000; i++) {
      pauses.safepointBegins(i, i);
      pauses.heap(i, true, 1);
      if (i % 5_000 == 0) {
        flush();
      }
    }
    flush();
    pauses.safepointEnded(0, 1);
    assertTrue(flush().isEmpty(), "the oldest was let go");
  }

  @Test
  void nothingIsHeldBackAtTheEnd() {
    pauses.pause(7, "Pause Remark", true, 100, 1);
    pauses.write(rows, jfr -> jfr, true);
    rows.flush();
    assertEquals(2, frames.take().size());
  }
}
