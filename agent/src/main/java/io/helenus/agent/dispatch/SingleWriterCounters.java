package io.helenus.agent.dispatch;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counters that one thread writes and others read, with opaque access: readers see no half-written
 * values, and see the newest ones eventually, at the cost of a plain store.
 */
public class SingleWriterCounters {
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts;

  public SingleWriterCounters(int length) {
    counts = new long[length];
  }

  /** Called only by the writing thread. */
  public final void add(int index, long amount) {
    ELEMENT.setOpaque(counts, index, counts[index] + amount);
  }

  /** Called only by the writing thread. */
  public final void set(int index, long value) {
    ELEMENT.setOpaque(counts, index, value);
  }

  /** Keeps the larger value. Called only by the writing thread. */
  public final void max(int index, long value) {
    if (value > counts[index]) {
      ELEMENT.setOpaque(counts, index, value);
    }
  }

  public final long get(int index) {
    return (long) ELEMENT.getOpaque(counts, index);
  }

  public final int length() {
    return counts.length;
  }
}
