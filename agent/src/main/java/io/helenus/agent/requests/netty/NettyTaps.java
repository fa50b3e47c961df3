package io.helenus.agent.requests.netty;

import io.helenus.agent.requests.Packets;
import io.helenus.agent.requests.Taps;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ServerChannel;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The taps on Netty's pipelines. The server's own channels are found by reflection. */
public final class NettyTaps implements Taps {
  /** The handlers' name in pipelines; each agent has its own, so that several can record. */
  private final String name = "helenus-requests-" + Integer.toHexString(hashCode());

  /** Cassandra's name of the handler for TLS, from 4.0 to 5.0. */
  private static final String TLS = "ssl";

  private static final long POLL_MS = 5;

  /** All taps that are in a pipeline, with their contexts. */
  private final Map<ChannelHandler, ChannelHandlerContext> taps = new ConcurrentHashMap<>();

  private final Map<Channel, Acceptor> acceptors = new ConcurrentHashMap<>();
  private Function<Object, Packets> packets;
  private volatile boolean removed;

  @Override
  public void tap(ClassLoader server, Function<Object, Packets> packets)
      throws ReflectiveOperationException {
    observe(packets);
    Object daemon =
        value(
            Class.forName("org.apache.cassandra.service.CassandraDaemon", false, server),
            null,
            "instance");
    Object service = value(daemon.getClass(), daemon, "nativeTransportService");
    Object servers = service == null ? null : value(service.getClass(), service, "servers");
    if (servers == null) {
      // The server for clients has not started, or is switched off.
      return;
    }
    for (Object one : (Iterable<?>) servers) {
      Object tracker = value(one.getClass(), one, "connectionTracker");
      for (Object channel : (Iterable<?>) value(tracker.getClass(), tracker, "allChannels")) {
        add((Channel) channel);
      }
    }
    acceptors.keySet().removeIf(channel -> !channel.isOpen());
  }

  void observe(Function<Object, Packets> packets) {
    this.packets = packets;
  }

  private void add(Channel channel) {
    if (!(channel instanceof ServerChannel)) {
      add(channel, false);
      return;
    }
    // The acceptor is added first, so that connections accepted from now on are tapped from their
    // start.
    Acceptor acceptor = new Acceptor(this);
    if (acceptors.putIfAbsent(channel, acceptor) == null) {
      channel.pipeline().addFirst(name, acceptor);
    }
  }

  /** Puts a tap into a connection's pipeline, unless there is one. */
  void add(Channel channel, boolean begins) {
    ChannelPipeline pipeline = channel.pipeline();
    if (removed || pipeline.context(name) != null) {
      return;
    }
    Tap tap = new Tap(this, begins);
    try {
      if (pipeline.context(TLS) == null) {
        pipeline.addFirst(name, tap);
      } else {
        pipeline.addAfter(TLS, name, tap);
      }
    } catch (IllegalArgumentException | NoSuchElementException e) {
      // The connection was tapped meanwhile, or has just removed its TLS handler: it is tried again
      // a second later.
    }
  }

  /** Whether a tap can stay where it was added. */
  boolean enter(Tap tap, ChannelHandlerContext context) {
    taps.put(tap, context);
    return !removed;
  }

  void leave(Tap tap) {
    taps.remove(tap);
  }

  Packets packets(Object eventLoop) {
    return packets.apply(eventLoop);
  }

  @Override
  public boolean remove(long withinMs) throws InterruptedException {
    removed = true;
    acceptors.forEach((channel, acceptor) -> remove(channel.pipeline(), acceptor));
    acceptors.clear();
    taps.forEach((tap, context) -> remove(context.pipeline(), tap));
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
    while (!taps.isEmpty() && System.nanoTime() < until) {
      Thread.sleep(POLL_MS);
    }
    return taps.isEmpty();
  }

  private static void remove(ChannelPipeline pipeline, ChannelHandler handler) {
    try {
      pipeline.remove(handler);
    } catch (NoSuchElementException e) {
      // The channel of the connection is closed.
    }
  }

  private static Object value(Class<?> from, Object of, String field)
      throws ReflectiveOperationException {
    for (Class<?> at = from; at != null; at = at.getSuperclass()) {
      for (Field one : at.getDeclaredFields()) {
        if (one.getName().equals(field)) {
          one.setAccessible(true);
          return one.get(of);
        }
      }
    }
    throw new NoSuchFieldException(from.getName() + " has no field " + field);
  }
}
