package io.helenus.agent.probes;

import com.sun.management.ThreadMXBean;
import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.dispatch.Frame;
import io.helenus.agent.dispatch.Interceptor;
import io.helenus.agent.dispatch.SingleWriterCounters;
import io.helenus.agent.dispatch.ThreadGroups;
import io.helenus.agent.dispatch.ThreadState;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Meters a point: counts its calls and their time, by calling probe and by thread group.
 *
 * <p>Each thread counts in cells of its own; a reader adds them up.
 */
public final class Probe implements Interceptor {
  private static final ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

  /** The caller: the innermost probe around this one, and the thread group. */
  public static final class Edge {
    /** The calling probe; null if no probe's method called. */
    public final Probe caller;

    public final ThreadGroups.Group group;

    Edge(Probe caller, ThreadGroups.Group group) {
      this.caller = caller;
      this.group = group;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Edge
          && ((Edge) other).caller == caller
          && ((Edge) other).group == group;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(caller) * 31 + group.number;
    }
  }

  /** The counts of one thread for one caller and thread group. */
  private static final class Cell extends SingleWriterCounters {
    final Probe probe;
    final Probe caller;
    final ThreadGroups.Group group;
    final Thread thread;
    final Cell next;

    Cell(Probe probe, Probe caller, ThreadGroups.Group group, Thread thread, Cell next) {
      super(Tally.LENGTH);
      this.probe = probe;
      this.caller = caller;
      this.group = group;
      this.thread = thread;
      this.next = next;
    }
  }

  public final String name;

  private final int number;
  private final ThreadGroups groups;
  private final boolean cpu;
  private final boolean allocation;
  private final Queue<Cell> cells = new ConcurrentLinkedQueue<>();

  /** The sums of the counts of ended threads. */
  private final Map<Edge, Tally> ended = new HashMap<>();

  /**
   * @param number the number of its site, a {@link Dispatcher#timedNumber}
   * @param cpu whether to measure the thread's CPU time, too, which costs some µs a call
   * @param allocation whether to measure the thread's allocation, too
   */
  public Probe(String name, int number, ThreadGroups groups, boolean cpu, boolean allocation) {
    this.name = name;
    this.number = number;
    this.groups = groups;
    this.cpu = cpu;
    this.allocation = allocation;
  }

  @Override
  public RuntimeException enter(ThreadState state, Frame frame) {
    int outer = state.metered;
    Probe caller = outer < 0 ? null : ((Cell) state.frame(outer).counters()).probe;
    ThreadGroups.Group group = state.group(groups);
    Cell cell = (Cell) state.counters(number);
    while (cell != null && (cell.caller != caller || cell.group != group)) {
      cell = cell.next;
    }
    if (cell == null) {
      cell = add(state, caller, group);
    }
    frame.counters(cell);
    frame.caller = outer;
    frame.calleesNs = 0;
    state.metered = frame.depth;
    if (cpu) {
      frame.startCpuNs = THREADS.getCurrentThreadCpuTime();
    }
    if (allocation) {
      frame.startBytes = THREADS.getThreadAllocatedBytes(state.thread.getId());
    }
    frame.startNs = System.nanoTime();
    return null;
  }

  @Override
  public void exit(ThreadState state, Frame frame, boolean failed, long nowNs) {
    long tookNs = nowNs - frame.startNs;
    int outer = frame.caller;
    state.metered = outer;
    if (outer >= 0) {
      state.frame(outer).calleesNs += tookNs;
    }
    Cell counts = (Cell) frame.counters();
    counts.add(Tally.TOTAL_NS, tookNs);
    counts.add(Tally.BINS + Bins.of(tookNs), 1);
    counts.max(Tally.MAX_NS, tookNs);
    if (frame.calleesNs != 0) {
      counts.add(Tally.CALLEES_NS, frame.calleesNs);
    }
    if (failed) {
      counts.add(Tally.FAILED, 1);
    }
    if (cpu) {
      counts.add(Tally.CPU_NS, THREADS.getCurrentThreadCpuTime() - frame.startCpuNs);
    }
    if (allocation) {
      long bytes = THREADS.getThreadAllocatedBytes(state.thread.getId());
      counts.add(Tally.ALLOCATED_BYTES, bytes - frame.startBytes);
    }
  }

  private Cell add(ThreadState state, Probe caller, ThreadGroups.Group group) {
    Cell first = (Cell) state.counters(number);
    Cell cell = new Cell(this, caller, group, state.thread, first);
    state.counters(number, cell);
    cells.add(cell);
    return cell;
  }

  /** All counts since the probe began, by caller. For one reader at a time. */
  public synchronized Map<Edge, Tally> read() {
    for (Iterator<Cell> i = cells.iterator(); i.hasNext(); ) {
      Cell cell = i.next();
      if (!cell.thread.isAlive()) {
        ended.computeIfAbsent(new Edge(cell.caller, cell.group), edge -> new Tally()).add(cell);
        i.remove();
      }
    }
    Map<Edge, Tally> sums = new HashMap<>();
    ended.forEach((edge, tally) -> sums.computeIfAbsent(edge, e -> new Tally()).add(tally));
    for (Cell cell : cells) {
      sums.computeIfAbsent(new Edge(cell.caller, cell.group), edge -> new Tally()).add(cell);
    }
    return sums;
  }
}
