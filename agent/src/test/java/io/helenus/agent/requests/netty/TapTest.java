package io.helenus.agent.requests.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.requests.Packets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TapTest {
  private final Packets packets = new Packets();
  private final NettyTaps taps = new NettyTaps();

  /** A connection of a client with an address. */
  private static final class Connection extends EmbeddedChannel {
    @Override
    protected SocketAddress remoteAddress0() {
      return new InetSocketAddress("127.0.0.7", 4660);
    }
  }

  private Connection tapped(boolean begins) {
    taps.observe(eventLoop -> packets);
    Connection connection = new Connection();
    taps.add(connection, begins);
    connection.runPendingTasks();
    return connection;
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
  }

  /** Flags, numbers and bytes of each record, as text. */
  private List<String> taken() {
    List<String> records = new ArrayList<>();
    ByteBuffer from = ByteBuffer.wrap(packets.takeBytes()).order(ByteOrder.LITTLE_ENDIAN);
    while (from.hasRemaining()) {
      int flags = from.get();
      assertEquals(4660, from.getShort());
      assertEquals(0x0700007F, from.getInt());
      assertTrue(from.getLong() <= System.nanoTime());
      int number = from.getInt();
      int other = from.getInt();
      byte[] bytes = new byte[from.getInt()];
      from.get(bytes);
      String text =
          bytes.length > 20 ? bytes.length + " bytes" : new String(bytes, StandardCharsets.UTF_8);
      records.add(flags + " " + number + " " + other + " " + text);
    }
    return records;
  }

  @Test
  void bytesOfBothSidesAreCopiedInOrderAndHandedOn() {
    Connection connection = tapped(true);
    ByteBuf request = bytes("ask");
    connection.writeInbound(request);
    assertSame(request, connection.readInbound());
    assertEquals("ask", request.toString(StandardCharsets.UTF_8), "not consumed");
    connection.writeOutbound(bytes("answer"));
    connection.writeOutbound("no bytes");
    connection.writeInbound(bytes("more"));
    connection.close();
    assertEquals(
        List.of("2 0 0 ", "3 0 1 ", "0 1 1 ask", "1 1 4 answer", "0 4 7 more", "4 8 7 "), taken());
  }

  @Test
  void aConnectionThatIsOpenHasNoBegin() {
    Connection connection = tapped(false);
    connection.writeInbound(bytes("ask"));
    assertEquals(List.of("0 1 1 ask"), taken());
  }

  @Test
  void whatIsTooLargeIsLeftOutAndItsNumbersAreNot() {
    Connection connection = tapped(false);
    connection.writeOutbound(Unpooled.wrappedBuffer(new byte[3 << 20]));
    List<String> first = taken();
    assertTrue(first.size() > 20 && first.size() < 48, first.size() + " pieces of 64 KiB");
    connection.writeInbound(bytes("ask"));
    assertEquals(List.of("0 1 " + (1 + (3 << 20)) + " ask"), taken());
  }

  @Test
  void afterItsRemovalNothingIsLeft() throws Exception {
    Connection connection = tapped(false);
    assertEquals(2, connection.pipeline().names().size(), "the tap and the tail");
    assertTrue(taps.remove(1000));
    assertEquals(1, connection.pipeline().names().size());
    connection.writeInbound(bytes("ask"));
    assertEquals(List.of(), taken());
    taps.add(connection, false);
    assertNull(connection.pipeline().firstContext(), "none is added any more");
  }
}
