package io.helenus.agent.attached;

import io.helenus.agent.recording.Schema;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The recorder's end of the protocol, written from its description. */
final class FakeRecorder implements Closeable {
  static final String TOKEN = "0123456789abcdef";

  /** The offset in START, so that the times of rows can't equal those of nanoTime by accident. */
  static final long EPOCH_OFFSET_NS = 1_000_000_000_000_000_000L;

  private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

  FakeRecorder() throws IOException {
    listener.setSoTimeout(60_000);
  }

  String connect() {
    return "connect=127.0.0.1:" + listener.getLocalPort();
  }

  String options() {
    return connect() + ",token=" + TOKEN;
  }

  /** Waits for an agent and reads its greeting. */
  Session accept() throws IOException {
    return new Session(listener.accept());
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  /** The connection of one agent. */
  static final class Session implements Closeable {
    final String token;
    final String hello;
    private final Socket socket;
    private final DataInputStream in;
    private final List<Schema.Row> rows = new ArrayList<>();
    private final Map<Long, String> threadNames = new HashMap<>();
    private final List<String> log = new ArrayList<>();
    private final List<String> replies = new ArrayList<>();
    private String bye;
    private String end;

    /** Number of rows when each further START took effect. */
    private final List<Integer> begun = new ArrayList<>();

    private Session(Socket socket) throws IOException {
      this.socket = socket;
      in = new DataInputStream(socket.getInputStream());
      byte[] magic = bytes(4);
      int protocol = Integer.reverseBytes(in.readInt());
      if (!new String(magic, StandardCharsets.US_ASCII).equals("HLNS") || protocol != 1) {
        throw new IOException("not a greeting");
      }
      token = text(Short.toUnsignedInt(Short.reverseBytes(in.readShort())));
      hello = text(Integer.reverseBytes(in.readInt()));
      Thread reader = new Thread(this::read);
      reader.setDaemon(true);
      reader.start();
    }

    private byte[] bytes(int length) throws IOException {
      byte[] bytes = new byte[length];
      in.readFully(bytes);
      return bytes;
    }

    private String text(int length) throws IOException {
      return new String(bytes(length), StandardCharsets.UTF_8);
    }

    Session start(String... sources) throws IOException {
      return startEvery(100, sources);
    }

    Session startEvery(int intervalMs, String... sources) throws IOException {
      String names =
          Arrays.stream(sources).map(name -> '"' + name + '"').collect(Collectors.joining(","));
      send(
          1,
          "{\"epoch_offset_ns\":"
              + EPOCH_OFFSET_NS
              + ",\"node\":\"127.0.0.9\",\"interval_ms\":"
              + intervalMs
              + ",\"sources\":["
              + names
              + "]}");
      return this;
    }

    void send(int kind, String text) throws IOException {
      byte[] payload = text.getBytes(StandardCharsets.UTF_8);
      sendBytes(
          ByteBuffer.allocate(5 + payload.length)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putInt(1 + payload.length)
              .put((byte) kind)
              .put(payload)
              .array());
    }

    void sendBytes(byte[] bytes) throws IOException {
      socket.getOutputStream().write(bytes);
    }

    /** Sends a COMMAND; returns the reply. */
    String command(String json) throws Exception {
      int before = look(replies::size);
      send(3, json.replace('\'', '"'));
      Awaiting.until(() -> look(() -> replies.size() > before || end != null), done -> done);
      return look(() -> replies.size() > before ? replies.get(before) : "no reply: " + bye);
    }

    /** Sends a DETACH; returns the agent's BYE once the agent has closed the connection. */
    String detach() throws Exception {
      send(2, "");
      return awaitBye();
    }

    String awaitBye() throws Exception {
      Awaiting.until(() -> look(() -> end), end -> end != null);
      return look(() -> bye);
    }

    /** Rows since the last START took effect; all rows if there was only one. */
    synchronized List<Schema.Row> rowsSinceStart() {
      return begun.isEmpty()
          ? List.of()
          : List.copyOf(rows.subList(begun.get(begun.size() - 1), rows.size()));
    }

    /** Waits for a row of the table that satisfies the predicate. */
    Schema.Row await(String table, Predicate<Schema.Row> as) throws Exception {
      Predicate<List<Schema.Row>> some = rows -> rows.stream().anyMatch(as);
      List<Schema.Row> rows;
      try {
        rows = Awaiting.until(() -> rows(table), some);
      } catch (AssertionError e) {
        String account = "; sources " + rows("sources") + ", log " + log() + ", end " + end;
        throw new AssertionError(e.getMessage() + account, e);
      }
      return rows.stream().filter(as).findFirst().orElseThrow();
    }

    synchronized List<Schema.Row> rows(String table) {
      return rows.stream().filter(row -> row.table.equals(table)).collect(Collectors.toList());
    }

    synchronized Map<Long, String> threadNames() {
      return Map.copyOf(threadNames);
    }

    synchronized List<String> log() {
      return List.copyOf(log);
    }

    private synchronized <T> T look(java.util.function.Supplier<T> at) {
      return at.get();
    }

    private void read() {
      String ended = "end";
      try {
        while (true) {
          take(bytes(Integer.reverseBytes(in.readInt())));
        }
      } catch (IOException | RuntimeException e) {
        ended = e.toString();
      }
      synchronized (this) {
        end = ended;
      }
    }

    private synchronized void take(byte[] frame) {
      byte[] payload = Arrays.copyOfRange(frame, 1, frame.length);
      if (bye != null) {
        throw new IllegalStateException("a frame after BYE");
      }
      switch (frame[0]) {
        case 1:
          rows.addAll(Schema.decode(payload));
          break;
        case 2:
          log.add(new String(payload, StandardCharsets.UTF_8));
          break;
        case 3:
          ByteBuffer names = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
          while (names.hasRemaining()) {
            long tid = names.getLong();
            byte[] name = new byte[names.getShort()];
            names.get(name);
            threadNames.put(tid, new String(name, StandardCharsets.UTF_8));
          }
          break;
        case 6:
          begun.add(rows.size());
          break;
        case 5:
          replies.add(new String(payload, StandardCharsets.UTF_8));
          break;
        case 4:
          bye = new String(payload, StandardCharsets.UTF_8);
          break;
        default:
          throw new IllegalArgumentException("kind " + frame[0]);
      }
    }

    /** Closes the connection as if the recorder had been killed. */
    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
