package io.helenus.agent.requests;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A buffer of the bytes of one event loop's client connections: records in the order in which the
 * bytes passed. {@link Requests} drains it.
 *
 * <p>A record, little endian: {@code u8} flags, {@code u16} port and 4 or 16 bytes address of the
 * client, {@code i64} System.nanoTime(), {@code u32} sequence number of the first byte, {@code u32}
 * acknowledged number of the other side, {@code u32} length, and the bytes. Sequence numbers are as
 * in TCP: the begin of a connection counts as a byte. Only a drain contends with the event loop for
 * the lock.
 */
public final class Packets {
  /** Flag: the node sent this packet. Without it, the client did. */
  public static final int FROM_NODE = 1;

  /** Flag: the connection begins. The record has no bytes. */
  public static final int BEGIN = 2;

  /** Flag: the connection ends. The record has no bytes. */
  public static final int END = 4;

  private static final int IPV6 = 8;

  /**
   * A prepared statement: {@code u16} length and id, {@code u16} length and keyspace, {@code u32}
   * length and text, {@code u16} number and {@code u16} indices of its partition key among its
   * values follow. Without an id, the text is a row as JSON, and the keyspace names its table.
   */
  static final int STATEMENT = 0x80;

  private static final int FIRST_BYTES = 64 * 1024;
  private static final int AT_MOST_BYTES = 2 * 1024 * 1024;

  /** Upper bound of the size of a record without its bytes. */
  private static final int FIELDS_BYTES = 1 + 2 + 16 + 8 + 4 + 4 + 4;

  /** One of this many calls is timed, to estimate the source's overhead. */
  private static final int TIMED = 16;

  private ByteBuffer buffer = empty(FIRST_BYTES);
  private int records;
  private long lost;
  private long costNs;
  private int calls;

  /** Copies bytes into a buffer. */
  public interface Copy {
    void into(byte[] array, int at, int length);
  }

  /** Encodes the client's port and address in the form of a record. */
  public static byte[] address(InetSocketAddress client) {
    InetAddress address = client.getAddress();
    byte[] octets = address.getAddress();
    return ByteBuffer.allocate(2 + octets.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) client.getPort())
        .put(octets)
        .array();
  }

  /**
   * Appends a record, or counts it as lost if the buffer is full.
   *
   * @param client see {@link #address}
   * @param nanoTime when the bytes passed
   */
  public synchronized void add(
      int flags, byte[] client, long nanoTime, int number, int other, int length, Copy bytes) {
    if (!reserve(FIELDS_BYTES + length)) {
      lost++;
      return;
    }
    buffer
        .put((byte) (flags | (client.length > 2 + 4 ? IPV6 : 0)))
        .put(client)
        .putLong(nanoTime)
        .putInt(number)
        .putInt(other)
        .putInt(length);
    if (length > 0) {
      bytes.into(buffer.array(), buffer.position(), length);
      buffer.position(buffer.position() + length);
    }
    records++;
    calls++;
    if (calls % TIMED == 0) {
      costNs += TIMED * (System.nanoTime() - nanoTime);
    }
  }

  /** Counts a record as lost that could not be built. */
  public synchronized void lose() {
    lost++;
  }

  /** Appends a prepared statement. */
  synchronized void addStatement(byte[] id, byte[] keyspace, byte[] text, short[] key) {
    if (!reserve(
        FIELDS_BYTES + id.length + keyspace.length + text.length + Short.BYTES * key.length)) {
      lost++;
      return;
    }
    buffer
        .put((byte) STATEMENT)
        .putShort((short) id.length)
        .put(id)
        .putShort((short) keyspace.length)
        .put(keyspace)
        .putInt(text.length)
        .put(text)
        .putShort((short) key.length);
    for (short place : key) {
      buffer.putShort(place);
    }
    records++;
  }

  private boolean reserve(int bytes) {
    if (buffer.remaining() >= bytes) {
      return true;
    }
    long wanted = (long) buffer.position() + bytes;
    if (wanted > AT_MOST_BYTES) {
      return false;
    }
    ByteBuffer larger =
        empty((int) Math.min(AT_MOST_BYTES, Math.max(wanted, 2L * buffer.capacity())));
    buffer.flip();
    buffer = larger.put(buffer);
    return true;
  }

  private static ByteBuffer empty(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Drained records with their counts. */
  static final class Taken {
    final byte[] bytes;
    final int records;
    final long lost;
    final long costNs;

    private Taken(byte[] bytes, int records, long lost, long costNs) {
      this.bytes = bytes;
      this.records = records;
      this.lost = lost;
      this.costNs = costNs;
    }
  }

  /** Drains all records, without their counts. */
  public byte[] takeBytes() {
    return take(0).bytes;
  }

  /**
   * Drains all records.
   *
   * @param head number of bytes to leave free before the first record
   */
  synchronized Taken take(int head) {
    byte[] bytes = new byte[head + buffer.position()];
    buffer.flip().get(bytes, head, bytes.length - head);
    buffer.clear();
    Taken taken = new Taken(bytes, records, lost, costNs);
    records = 0;
    lost = 0;
    costNs = 0;
    return taken;
  }
}
