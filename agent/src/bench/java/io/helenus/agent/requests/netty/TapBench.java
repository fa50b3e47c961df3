package io.helenus.agent.requests.netty;

import io.helenus.agent.requests.Packets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The overhead of a tap in an event loop for a request and its answer, of 200 bytes each: the same
 * pipeline with and without the tap.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class TapBench {
  private static final int BYTES = 200;

  @Param({"false", "true"})
  boolean tapped;

  private final Packets packets = new Packets();
  private EmbeddedChannel channel;
  private ByteBuf request;
  private ByteBuf answer;
  private int requests;

  /** A connection of a client with an address. */
  private static final class Connection extends EmbeddedChannel {
    Connection() {
      super(
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
              ((ByteBuf) message).release();
            }
          });
    }

    @Override
    protected SocketAddress remoteAddress0() {
      return new InetSocketAddress("127.0.0.7", 4660);
    }
  }

  @Setup
  public void setUp() {
    channel = new Connection();
    if (tapped) {
      NettyTaps taps = new NettyTaps();
      taps.observe(eventLoop -> packets);
      taps.add(channel, true);
      channel.runPendingTasks();
    }
    request = PooledByteBufAllocator.DEFAULT.directBuffer(BYTES).writeZero(BYTES);
    answer = PooledByteBufAllocator.DEFAULT.directBuffer(BYTES).writeZero(BYTES);
  }

  @Benchmark
  public void requestAndAnswer() {
    channel.writeInbound(request.retain());
    channel.writeOutbound(answer.retain());
    ((ByteBuf) channel.readOutbound()).release();
    // Number of requests between two drains at 25,000 requests/s.
    if (++requests % 500 == 0) {
      packets.takeBytes();
    }
  }
}
