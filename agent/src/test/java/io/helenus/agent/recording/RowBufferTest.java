package io.helenus.agent.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowBufferTest {
  private final List<byte[]> frames = new ArrayList<>();
  private final List<Integer> counts = new ArrayList<>();
  private final RowBuffer rows =
      new RowBuffer(
          (frame, count) -> {
            frames.add(frame);
            counts.add(count);
          });

  private List<Schema.Row> decode(int frame) {
    byte[] bytes = frames.get(frame);
    return Schema.decode(Arrays.copyOfRange(bytes, 5, bytes.length));
  }

  @Test
  void bytesAreAsTheProtocolSays() {
    rows.row(7);
    rows.int64(0x0102030405060708L);
    rows.nullableInt64(null);
    rows.nullableInt64(1L);
    rows.bool(true);
    rows.string("é");
    rows.float64(1.0);
    rows.flush();
    byte[] expected = {
      39,
      0,
      0,
      0, // length of what follows
      1,
      7,
      1,
      0,
      0,
      0, // ROWS, table 7, 1 row
      8,
      7,
      6,
      5,
      4,
      3,
      2,
      1, // INT64
      0, // null
      1,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      0, // present 1
      1, // true
      2,
      0,
      0,
      0,
      (byte) 0xc3,
      (byte) 0xa9, // string
      0,
      0,
      0,
      0,
      0,
      0,
      (byte) 0xf0,
      0x3f // 1.0
    };
    assertArrayEquals(expected, frames.get(0));
  }

  @Test
  void generatedRowsDecodeByTheSchema() {
    Tables.pause(rows, 1, 2, "node", "gc", 3L, "G1New", null, "Größe", 4L, null, -5L, "jfr");
    Tables.mark(rows, 1, 2, "phase", "step", 1.5, null, null, true, null);
    rows.flush();
    Schema.Row pause = decode(0).get(0);
    assertEquals("pauses", pause.table);
    assertEquals(3L, pause.get("gc_id"));
    assertNull(pause.get("cause"));
    assertEquals("Größe", pause.get("phase"));
    assertEquals(-5L, pause.get("time_to_safepoint_ns"));
    Schema.Row mark = decode(1).get(0);
    assertEquals("marks", mark.table);
    assertEquals(1.5, mark.get("rate_per_s"));
    assertEquals(true, mark.get("measured"));
  }

  @Test
  void rowsOfOneTableShareFramesOfBoundedSize() {
    for (int i = 0; i < 5_000; i++) {
      Tables.stall(rows, i, 2, "server", "127.0.0.1", "watcher", null, null, null);
    }
    rows.flush();
    assertTrue(frames.size() > 1);
    long next = 0;
    for (int frame = 0; frame < frames.size(); frame++) {
      assertTrue(frames.get(frame).length < 64 * 1024);
      List<Schema.Row> decoded = decode(frame);
      assertEquals(counts.get(frame), decoded.size());
      for (Schema.Row row : decoded) {
        assertEquals(next++, row.number("start_ns"));
      }
    }
    assertEquals(5_000, next);
  }

  @Test
  void discardForgetsAHalfWrittenRow() {
    Tables.stall(rows, 1, 2, "server", "a", "watcher", null, null, null);
    rows.row(Tables.STALLS);
    rows.int64(3);
    assertEquals(2, rows.discard());
    Tables.stall(rows, 5, 6, "server", "b", "watcher", null, null, null);
    rows.flush();
    assertEquals(1, frames.size());
    assertEquals("b", decode(0).get(0).get("node"));
  }
}
