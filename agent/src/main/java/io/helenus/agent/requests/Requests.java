package io.helenus.agent.requests;

import io.helenus.agent.sources.Feed;
import io.helenus.agent.sources.Source;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Source {@code requests}: the decrypted bytes of client connections, from which the recorder
 * reconstructs requests. No class is changed: a handler is added to the pipeline of each
 * connection, and removed at the end.
 *
 * <p>The thread "helenus-agent-requests" sends the bytes every {@value #EVERY_MS} ms, and adds
 * handlers to new connections every second.
 */
public final class Requests implements Source {
  private static final long EVERY_MS = 20;
  private static final long TAP_EVERY_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long REMOVED_WITHIN_MS = 5_000;

  /** Length and kind of a frame. */
  private static final int HEAD = 5;

  /** Kind of the frame: PACKETS. */
  private static final byte KIND = 7;

  private final Feed feed;
  private final ClassLoader server;
  private final Consumer<String> log;
  private final Map<Object, Packets> ofEventLoops = new ConcurrentHashMap<>();
  private final Packets statements = new Packets();
  private final Thread thread = new Thread(this::run, "helenus-agent-requests");
  private Taps taps;
  private volatile boolean stopped;

  /**
   * @param server the server's class loader
   * @param log gets each failure, once
   */
  public Requests(Feed feed, ClassLoader server, Consumer<String> log) {
    this.feed = feed;
    this.server = server;
    this.log = log;
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    feed.worker(thread);
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public void start() throws ReflectiveOperationException {
    InitialFacts.readRing(statements::addStatement);
    InitialFacts.read(statements::addStatement);
    String implementation = Requests.class.getPackageName() + ".netty.NettyTaps";
    taps =
        (Taps)
            Class.forName(implementation, true, new ServerLoader(server))
                .getDeclaredConstructor()
                .newInstance();
    tap();
    thread.start();
  }

  @Override
  public void stop(boolean drain) throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    thread.join();
    if (!taps.remove(REMOVED_WITHIN_MS)) {
      log.accept("requests: a busy event loop still has to remove the handler of its connections");
    }
    if (drain) {
      send();
    }
  }

  private void tap() throws ReflectiveOperationException {
    taps.tap(server, eventLoop -> ofEventLoops.computeIfAbsent(eventLoop, any -> new Packets()));
  }

  private void run() {
    long tapped = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(EVERY_MS));
      send();
      if (System.nanoTime() - tapped > TAP_EVERY_NS) {
        tapped = System.nanoTime();
        try {
          tap();
        } catch (Throwable e) {
          log.accept("requests of new connections cannot be observed: " + e);
          return;
        }
      }
    }
  }

  private void send() {
    // Statements are sent before the requests that execute them.
    send(statements);
    ofEventLoops.values().forEach(this::send);
  }

  private void send(Packets packets) {
    Packets.Taken taken = packets.take(HEAD);
    feed.spend(taken.costNs);
    if (taken.lost > 0) {
      feed.lose(taken.lost, "bytes of requests for which an event loop's buffer had no room");
    }
    if (taken.records == 0) {
      return;
    }
    byte[] frame = taken.bytes;
    int length = frame.length - 4;
    for (int i = 0; i < 4; i++) {
      frame[i] = (byte) (length >>> 8 * i);
    }
    frame[4] = KIND;
    if (!feed.offer(frame)) {
      feed.lose(
          taken.records, "the recorder was too slow: no room left to queue bytes of requests");
    }
  }
}
