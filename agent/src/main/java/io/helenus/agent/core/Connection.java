package io.helenus.agent.core;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** The connection to the recorder: the handshake, and frames in both directions. */
final class Connection implements Closeable {
  static final int LOG = 2;
  static final int BYE = 4;
  static final int REPLY = 5;
  static final int BEGUN = 6;
  static final int START = 1;
  static final int DETACH = 2;
  static final int COMMAND = 3;

  private static final int PROTOCOL = 1;
  private static final int CONNECT_MS = 2_000;
  private static final int START_MS = 10_000;

  /** The largest frame that is accepted from a recorder. */
  private static final int LONGEST_FRAME_BYTES = 64 * 1024;

  /** A frame from the recorder. */
  static final class Frame {
    final int kind;
    final String text;

    private Frame(int kind, String text) {
      this.kind = kind;
      this.text = text;
    }
  }

  private final Socket socket = new Socket();
  private final DataInputStream in;
  private final OutputStream out;

  /**
   * Connects and sends the hello. The recorder's first frame shows whether it accepts the agent; if
   * it doesn't, it closes the connection.
   *
   * @param hello makes the JSON of the hello, once connected
   */
  Connection(InetSocketAddress recorder, String token, Supplier<String> hello) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.connect(recorder, CONNECT_MS);
      socket.setSoTimeout(START_MS);
      in = new DataInputStream(socket.getInputStream());
      out = socket.getOutputStream();
      out.write(greeting(token, hello.get()));
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private static byte[] greeting(String token, String hello) {
    byte[] secret = token.getBytes(StandardCharsets.UTF_8);
    byte[] json = hello.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(4 + 4 + 2 + secret.length + 4 + json.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put("HLNS".getBytes(StandardCharsets.US_ASCII))
        .putInt(PROTOCOL)
        .putShort((short) secret.length)
        .put(secret)
        .putInt(json.length)
        .put(json)
        .array();
  }

  /** A whole frame of text, its length prefix included. */
  static byte[] frame(int kind, String text) {
    byte[] payload = text.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(4 + 1 + payload.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(1 + payload.length)
        .put((byte) kind)
        .put(payload)
        .array();
  }

  /**
   * Waits for a frame. The first has to come within {@value #START_MS} ms.
   *
   * @throws ProtocolException if the frame is not one that a recorder sends
   * @throws IOException if the connection has ended
   */
  Frame read() throws IOException {
    int length = Integer.reverseBytes(in.readInt());
    if (length < 1 || length > LONGEST_FRAME_BYTES) {
      throw new ProtocolException("a frame of " + Integer.toUnsignedString(length) + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    if (bytes[0] < START || bytes[0] > COMMAND) {
      throw new ProtocolException("a frame of the unknown kind " + (bytes[0] & 0xff));
    }
    socket.setSoTimeout(0);
    return new Frame(bytes[0], new String(bytes, 1, length - 1, StandardCharsets.UTF_8));
  }

  OutputStream out() {
    return out;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
