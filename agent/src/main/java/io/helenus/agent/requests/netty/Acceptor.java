package io.helenus.agent.requests.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * A handler of a server socket: adds a tap to each accepted connection, before the server adds its
 * own handlers.
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
