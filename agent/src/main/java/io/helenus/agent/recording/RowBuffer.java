package io.helenus.agent.recording;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Encodes rows into ROWS frames of the agent's protocol.
 *
 * <p>A frame is: u32 length of what follows, u8 kind 1, u8 table, u32 row count, then the rows one
 * after the other, little endian: INT64 and DOUBLE 8 bytes, BOOL 1 byte, STRING u32 length and
 * UTF-8; a nullable value is preceded by 1 byte, 0 for null (and then no value) or 1. The generated
 * {@link Tables} calls {@link #row} and then one method per column, in the column's order.
 *
 * <p>Rows of one table share a frame until it holds {@value #FRAME_BYTES} bytes. Not thread safe:
 * each source has its own.
 */
public final class RowBuffer {
  /** Receives finished frames. */
  @FunctionalInterface
  public interface Sink {
    /** Receives a complete frame with its length prefix, which contains this many rows. */
    void frame(byte[] frame, int rows);
  }

  private static final byte ROWS = 1;
  private static final int HEADER_BYTES = 4 + 1 + 1 + 4;
  private static final int FRAME_BYTES = 32 * 1024;

  private final Sink sink;
  private byte[] bytes = new byte[1024];
  private int size;
  private int rows;
  private int table = -1;

  public RowBuffer(Sink sink) {
    this.sink = sink;
  }

  /** Begins a row of a table: the columns follow. */
  public void row(int table) {
    if (table != this.table || size >= FRAME_BYTES) {
      flush();
      this.table = table;
      size = HEADER_BYTES;
    }
    rows++;
  }

  public void int64(long value) {
    room(Long.BYTES);
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[size++] = (byte) (value >>> (8 * i));
    }
  }

  public void float64(double value) {
    int64(Double.doubleToRawLongBits(value));
  }

  public void bool(boolean value) {
    room(1);
    bytes[size++] = (byte) (value ? 1 : 0);
  }

  public void string(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    room(Integer.BYTES + utf8.length);
    int32(size, utf8.length);
    size += Integer.BYTES;
    System.arraycopy(utf8, 0, bytes, size, utf8.length);
    size += utf8.length;
  }

  public void nullableInt64(Long value) {
    bool(value != null);
    if (value != null) {
      int64(value);
    }
  }

  public void nullableFloat64(Double value) {
    bool(value != null);
    if (value != null) {
      float64(value);
    }
  }

  public void nullableBool(Boolean value) {
    bool(value != null);
    if (value != null) {
      bool(value);
    }
  }

  public void nullableString(String value) {
    bool(value != null);
    if (value != null) {
      string(value);
    }
  }

  /** Passes the buffered rows to the sink. */
  public void flush() {
    int count = rows;
    if (count > 0) {
      int32(0, size - Integer.BYTES);
      bytes[4] = ROWS;
      bytes[5] = (byte) table;
      int32(6, count);
      byte[] frame = Arrays.copyOf(bytes, size);
      discard();
      sink.frame(frame, count);
    }
  }

  /**
   * Discards the rows that were not flushed, including an incomplete last row; returns their
   * number.
   */
  public int discard() {
    int count = rows;
    rows = 0;
    size = 0;
    table = -1;
    return count;
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }

  private void int32(int at, int value) {
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[at + i] = (byte) (value >>> (8 * i));
    }
  }
}
