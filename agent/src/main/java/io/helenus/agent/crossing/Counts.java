package io.helenus.agent.crossing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Numbers that one thread counts and others read: written whole and in the end, but without
 * ordering, which costs what a plain store costs.
 */
public class Counts {
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts;

  public Counts(int length) {
    counts = new long[length];
  }

  /** By the thread that counts alone. */
  public final void add(int index, long amount) {
    ELEMENT.setOpaque(counts, index, counts[index] + amount);
  }

  /** By the thread that counts alone. */
  public final void set(int index, long value) {
    ELEMENT.setOpaque(counts, index, value);
  }

  /** Keeps the larger; by the thread that counts alone. */
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
