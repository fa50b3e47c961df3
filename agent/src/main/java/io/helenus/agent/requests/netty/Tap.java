package io.helenus.agent.requests.netty;

import io.helenus.agent.requests.Packets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.net.InetSocketAddress;

/**
 * A handler in the pipeline of one client connection, after the TLS handler if there is one: copies
 * the bytes that pass, and passes them on. After a failure it only passes them on.
 */
final class Tap extends ChannelDuplexHandler {
  /** Large messages are split, so that a full buffer does not lose a whole message. */
  private static final int PIECE_BYTES = 64 * 1024;

  private final NettyTaps taps;

  /** Whether the tap was added before the connection's first byte. */
  private final boolean begins;

  private Packets packets;
  private byte[] client;

  /** Sequence numbers of the next byte of the client and of the node. */
  private final int[] next = {1, 1};

  private boolean works;

  Tap(NettyTaps taps, boolean begins) {
    this.taps = taps;
    this.begins = begins;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    if (!taps.enter(this, context)) {
      context.pipeline().remove(this);
      return;
    }
    if (begins && context.channel().isActive()) {
      begin(context);
    } else if (!begins) {
      works = init(context);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (begins && packets == null) {
      begin(context);
    }
    context.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (works && message instanceof ByteBuf) {
      record(0, (ByteBuf) message);
    }
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (works && message instanceof ByteBuf) {
      record(Packets.FROM_NODE, (ByteBuf) message);
    }
    context.write(message, promise);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (works) {
      packets.add(Packets.END, client, System.nanoTime(), next[0], next[1], 0, null);
      works = false;
    }
    context.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    works = false;
    taps.leave(this);
  }

  private boolean init(ChannelHandlerContext context) {
    Object address = context.channel().remoteAddress();
    if (!(address instanceof InetSocketAddress)) {
      return false;
    }
    client = Packets.address((InetSocketAddress) address);
    packets = taps.packets(context.executor());
    return true;
  }

  private void begin(ChannelHandlerContext context) {
    works = init(context);
    if (works) {
      long now = System.nanoTime();
      packets.add(Packets.BEGIN, client, now, 0, 0, 0, null);
      packets.add(Packets.BEGIN | Packets.FROM_NODE, client, now, 0, 1, 0, null);
    }
  }

  private void record(int from, ByteBuf bytes) {
    long now = System.nanoTime();
    try {
      int at = bytes.readerIndex();
      int left = bytes.readableBytes();
      while (left > 0) {
        int length = Math.min(left, PIECE_BYTES);
        int piece = at;
        packets.add(
            from,
            client,
            now,
            next[from],
            next[1 - from],
            length,
            (array, position, count) -> bytes.getBytes(piece, array, position, count));
        next[from] += length;
        at += length;
        left -= length;
      }
    } catch (Throwable e) {
      works = false;
      packets.lose();
    }
  }
}
