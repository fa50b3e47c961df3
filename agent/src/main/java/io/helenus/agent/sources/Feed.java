package io.helenus.agent.sources;

import io.helenus.agent.recording.RowBuffer;
import io.helenus.agent.recording.Tables;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.Predicate;

/**
 * The output of one source: its rows, on the clock of the recording, and the account of its
 * captured and lost rows and its overhead.
 *
 * <p>Only one thread at a time may use the rows; any thread may use the account.
 */
public final class Feed {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final String source;
  private final String provider;
  private final String node;
  private final long epochOffsetNs;
  private final Predicate<byte[]> outbox;
  private final RowBuffer rows = new RowBuffer(this::send);
  private Thread worker;
  private long workerCpuNs;
  private long captured;
  private long lost;
  private String lostReason = "";
  private long cpuNs;

  /**
   * @param node as the recording names it
   * @param epochOffsetNs to be added to System.nanoTime() for the time of a row
   * @param outbox takes a frame, or refuses it when it has no room
   */
  public Feed(
      String source, String provider, String node, long epochOffsetNs, Predicate<byte[]> outbox) {
    this.source = source;
    this.provider = provider;
    this.node = node;
    this.epochOffsetNs = epochOffsetNs;
    this.outbox = outbox;
  }

  /** CPU time of the current thread so far, ns; 0 where the JVM can't tell. */
  static long ownCpuNs() {
    return THREADS.isCurrentThreadCpuTimeSupported()
        ? Math.max(0, THREADS.getCurrentThreadCpuTime())
        : 0;
  }

  public String source() {
    return source;
  }

  String node() {
    return node;
  }

  /** The time of a row for a System.nanoTime(). */
  long at(long nanoTime) {
    return nanoTime + epochOffsetNs;
  }

  /** To encode rows into; {@link #flush} or a full frame sends them. */
  RowBuffer rows() {
    return rows;
  }

  void flush() {
    rows.flush();
  }

  /** Offers a frame that holds no rows; nothing is counted. */
  public boolean offer(byte[] frame) {
    return outbox.test(frame);
  }

  /** Drops the rows that were not flushed, after a failure to make one, and counts them lost. */
  void fail(Throwable why) {
    lose(Math.max(1, rows.discard()), why.toString());
  }

  public synchronized void lose(long rows, String reason) {
    lost += rows;
    lostReason = reason;
  }

  /** Adds to what the source cost. */
  public synchronized void spend(long ns) {
    cpuNs += ns;
  }

  /** A thread that works for this source alone: all its CPU time is the source's. */
  public synchronized void worker(Thread thread) {
    worker = thread;
    workerCpuNs = 0;
  }

  /** Writes what happened since the last report into a row of table sources. */
  public void report(RowBuffer into, long nanoTime, long intervalNs) {
    long rowCount;
    long rowsLost;
    String reason;
    long cpu;
    synchronized (this) {
      if (worker != null) {
        long now = THREADS.getThreadCpuTime(worker.getId());
        cpuNs += Math.max(0, now - workerCpuNs);
        workerCpuNs = Math.max(now, workerCpuNs);
      }
      rowCount = captured;
      rowsLost = lost;
      reason = lostReason;
      cpu = cpuNs;
      captured = 0;
      lost = 0;
      lostReason = "";
      cpuNs = 0;
    }
    Long cost = THREADS.isThreadCpuTimeSupported() ? cpu : null;
    Tables.sourceReport(
        into, at(nanoTime), intervalNs, source, node, provider, rowCount, rowsLost, reason, cost);
  }

  private synchronized void send(byte[] frame, int count) {
    captured += count;
    if (!outbox.test(frame)) {
      lost += count;
      lostReason = "the recorder was too slow: no room left to queue rows";
    }
  }
}
