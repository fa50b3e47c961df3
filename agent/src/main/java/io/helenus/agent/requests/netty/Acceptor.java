package io.helenus.agent.requests.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * A handler of a server's socket: it puts a tap into each connection that comes in, before the
 * server puts its own handlers there.
 */
final class Acceptor extends ChannelInboundHandlerAdapter {
  private final NettyTaps taps;

  Acceptor(NettyTaps taps) {
    this.taps = taps;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Channel) {
      taps.add((Channel) message, true);
    }
    context.fireChannelRead(message);
  }
}
