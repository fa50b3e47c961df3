package io.helenus.agent.sources;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import jdk.jfr.FlightRecorder;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;

/**
 * Source {@code pauses} from JFR event streaming: the pauses of the garbage collector and all
 * safepoints, exact to the clock's error of some microseconds, and the names of the threads.
 *
 * <p>The stream is a recording of its own: recordings that others have started go on, though theirs
 * hold our events too as long as it runs, for that is how JFR works. Once stopped it leaves no
 * recording, no event type and no thread of ours; what remains is what the JDK starts once per JVM
 * with its first recording, whoever starts it: the threads "JFR Recorder Thread" and "JFR Periodic
 * Tasks", and its repository folder in the temporary directory until the JVM ends.
 */
final class JfrPauses implements Source {
  private static final Duration FLUSH = Duration.ofSeconds(1);
  private static final Duration CLOCK = Duration.ofMillis(200);
  private static final Duration THREADS = Duration.ofSeconds(5);

  /** Shorter phases of a pause say little and are many. */
  private static final Duration SHORTEST_PHASE = Duration.ofMillis(1);

  private static final Runnable CLOCK_HOOK = ClockEvent::emit;
  private static final long DRAIN_MS = 2_500;
  private static final long STOP_MS = 2_000;

  /**
   * A stream gives its first clock event within a flush or two. Rarely one stays silent for good,
   * of the first in a JVM some in a hundred; another one beside it does not.
   */
  private static final long SILENT_MS = 4_000;

  private static final int MOST_STREAMS = 5;

  private final Feed feed;
  private final Consumer<String> log;
  private final Thread thread = new Thread(this::run, "helenus-agent-jfr");
  private final ClockFit clock = new ClockFit();
  private final PauseAssembly pauses;
  private final ThreadNames names;
  private final CountDownLatch drained = new CountDownLatch(1);
  private RecordingStream stream;
  private final CountDownLatch heard = new CountDownLatch(1);
  private boolean stopped;
  private Thread reader;
  private volatile long drainAfter = Long.MAX_VALUE;
  private long lastClock = Long.MIN_VALUE;
  private boolean failed;

  private JfrPauses(RecordingStream stream, Feed feed, Consumer<String> log) {
    this.stream = stream;
    this.feed = feed;
    this.log = log;
    this.pauses = new PauseAssembly(feed.node());
    this.names = new ThreadNames(feed);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
  }

  static JfrPauses started(Function<String, Feed> feed, Consumer<String> log) {
    RecordingStream stream = new RecordingStream();
    try {
      FlightRecorder.register(ClockEvent.class);
      FlightRecorder.addPeriodicEvent(ClockEvent.class, CLOCK_HOOK);
      enable(stream);
      JfrPauses source = new JfrPauses(stream, feed.apply("agent-jfr"), log);
      source.start();
      return source;
    } catch (RuntimeException | LinkageError e) {
      undo(stream);
      throw e;
    }
  }

  private static void enable(RecordingStream stream) {
    stream.enable(ClockEvent.NAME).withPeriod(CLOCK);
    stream.enable("jdk.DataLoss");
    stream.enable("jdk.GarbageCollection").withThreshold(Duration.ZERO).withoutStackTrace();
    stream.enable("jdk.GCHeapSummary");
    stream.enable("jdk.GCPhasePause").withThreshold(Duration.ZERO);
    stream.enable("jdk.GCPhasePauseLevel1").withThreshold(SHORTEST_PHASE);
    stream.enable("jdk.SafepointBegin").withThreshold(Duration.ZERO);
    stream.enable("jdk.SafepointStateSynchronization").withThreshold(Duration.ZERO);
    stream.enable("jdk.ExecuteVMOperation").withThreshold(Duration.ZERO);
    stream.enable("jdk.SafepointEnd").withThreshold(Duration.ZERO);
    stream.enable("jdk.ThreadStart").withoutStackTrace();
    stream.enable("jdk.ThreadAllocationStatistics").withPeriod(THREADS);
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public void start() {
    listen();
    thread.start();
  }

  private void listen() {
    on(ClockEvent.NAME, this::clock);
    on("jdk.DataLoss", e -> feed.lose(1, "JFR lost " + e.getLong("amount") + " bytes of events"));
    on(
        "jdk.GarbageCollection",
        e -> pauses.collection(gcId(e), e.getString("name"), e.getString("cause")));
    on(
        "jdk.GCHeapSummary",
        e -> pauses.heap(gcId(e), e.getString("when").startsWith("Before"), e.getLong("heapUsed")));
    on("jdk.GCPhasePause", e -> pause(e, true));
    on("jdk.GCPhasePauseLevel1", e -> pause(e, false));
    on("jdk.SafepointBegin", e -> pauses.safepointBegins(safepointId(e), startNs(e)));
    on("jdk.SafepointStateSynchronization", e -> pauses.threadsStand(safepointId(e), endNs(e)));
    on("jdk.SafepointEnd", e -> pauses.safepointEnded(safepointId(e), endNs(e)));
    on("jdk.ExecuteVMOperation", this::operation);
    on("jdk.ThreadStart", this::thread);
    on("jdk.ThreadAllocationStatistics", this::thread);
    stream.onFlush(guarded(() -> flush(false)));
    stream.onError(this::fail);
  }

  @Override
  public void stop(boolean drain) throws InterruptedException {
    if (drain) {
      drainAfter = System.nanoTime();
      drained.await(DRAIN_MS, TimeUnit.MILLISECONDS);
    }
    synchronized (this) {
      stopped = true;
      undo(stream);
    }
    thread.join(STOP_MS);
    if (!thread.isAlive()) {
      flush(true);
    }
  }

  private static void undo(RecordingStream stream) {
    stream.close();
    FlightRecorder.removePeriodicEvent(CLOCK_HOOK);
    FlightRecorder.unregister(ClockEvent.class);
  }

  private void run() {
    try {
      RecordingStream begun = begin();
      for (int streams = 1; begun != null && streams < MOST_STREAMS; streams++) {
        if (heard.await(SILENT_MS, TimeUnit.MILLISECONDS)) {
          break;
        }
        begun = beginAnew();
      }
      if (begun != null) {
        begun.awaitTermination();
      }
    } catch (Throwable e) {
      fail(e);
    }
  }

  /** Null when the source was stopped. */
  private synchronized RecordingStream begin() {
    if (stopped) {
      return null;
    }
    stream.startAsync();
    return stream;
  }

  private synchronized RecordingStream beginAnew() {
    if (stopped) {
      return null;
    }
    log.accept("JFR gave no event within " + SILENT_MS + " ms; its stream is started anew");
    feed.lose(0, "JFR's stream was silent and was started anew");
    stream.close();
    stream = new RecordingStream();
    enable(stream);
    listen();
    return begin();
  }

  private void on(String event, Consumer<RecordedEvent> consumer) {
    stream.onEvent(event, e -> guarded(() -> consumer.accept(e)).run());
  }

  /** What JFR would print to the server's standard error goes into the account and the log. */
  private Runnable guarded(Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException | LinkageError e) {
        fail(e);
      }
    };
  }

  private void fail(Throwable e) {
    feed.fail(e);
    if (!failed) {
      failed = true;
      log.accept("an event of JFR cannot be read: " + e);
    }
  }

  private void flush(boolean last) {
    if (clock.isSet()) {
      pauses.write(feed.rows(), jfr -> feed.at(clock.nanoTime(jfr)), last);
      feed.flush();
    }
    clock.endBatch();
    if (!last) {
      names.send();
    }
    if (lastClock > drainAfter) {
      drained.countDown();
    }
  }

  private void clock(RecordedEvent event) {
    lastClock = event.getLong("nanoTime");
    heard.countDown();
    if (reader == null) {
      reader = Thread.currentThread();
      feed.worker(reader);
    }
    clock.add(startNs(event), event.getDuration().toNanos(), lastClock);
  }

  private void pause(RecordedEvent event, boolean whole) {
    long durationNs = event.getDuration().toNanos();
    pauses.pause(gcId(event), event.getString("name"), whole, startNs(event), durationNs);
  }

  private void operation(RecordedEvent event) {
    if (event.getBoolean("safepoint")) {
      pauses.operation(safepointId(event), event.getString("operation"));
    }
  }

  private void thread(RecordedEvent event) {
    RecordedThread seen = event.getThread("thread");
    if (seen != null) {
      names.seen(seen.getJavaThreadId(), seen.getOSThreadId());
    }
  }

  private static long gcId(RecordedEvent event) {
    return event.getLong("gcId");
  }

  private static long safepointId(RecordedEvent event) {
    return event.getLong("safepointId");
  }

  private static long startNs(RecordedEvent event) {
    return epochNs(event.getStartTime());
  }

  private static long endNs(RecordedEvent event) {
    return epochNs(event.getEndTime());
  }

  private static long epochNs(Instant time) {
    return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano();
  }
}
