package io.helenus.agent.sources;

import io.helenus.agent.recording.RowBuffer;
import io.helenus.agent.recording.Tables;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.Predicate;

/**
 * The output of one source: its rows, on the clock of the recording, and its statistics: captured
 * and lost rows, and overhead.
 *
 * <p>Only one thread at a time may use the rows; any thread may use the statistics.
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
   * @param node the node's name in the recording
   * @param epochOffsetNs added to System.nanoTime() to get the time of a row
   * @param outbox queues a frame; false if it has no room
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

  /** Receives encoded rows; {@link #flush} or a full frame sends them. */
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

  /** After a failure: drops the rows that were not flushed, and counts them as lost. */
  void fail(Throwable why) {
    lose(Math.max(1, rows.discard()), why.toString());
  }

  public synchronized void lose(long rows, String reason) {
    lost += rows;
    lostReason = reason;
  }

  /** Adds to the CPU time of the source. */
  public synchronized void spend(long ns) {
    cpuNs += ns;
  }

  /** Sets a thread that works for this source alone: all its CPU time counts for the source. */
  public synchronized void worker(Thread thread) {
    worker = thread;
    workerCpuNs = 0;
  }

  /** Writes the statistics since the last report as a row of the table {@code sources}. */
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
