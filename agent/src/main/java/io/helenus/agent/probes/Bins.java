package io.helenus.agent.probes;

/**
 * The bins of a probe's histogram: {@value #PER_OCTAVE} of equal width from each power of two to
 * the next, in ns, so that a bin is at most a quarter wide. The last bin also counts all longer
 * times.
 */
public final class Bins {
  private static final int PER_OCTAVE = 4;
  private static final int PER_OCTAVE_BITS = 2;

  /** Octaves covered by bins: 2^42 ns are 73 minutes. */
  private static final int OCTAVES = 42;

  public static final int COUNT = (OCTAVES - PER_OCTAVE_BITS + 1) * PER_OCTAVE;

  private Bins() {}

  public static int of(long ns) {
    if (ns < PER_OCTAVE) {
      return ns < 0 ? 0 : (int) ns;
    }
    int shift = 63 - Long.numberOfLeadingZeros(ns) - PER_OCTAVE_BITS;
    return Math.min(COUNT - 1, shift * PER_OCTAVE + (int) (ns >>> shift));
  }

  /** The lower end of a bin, ns, which is the upper end of the bin before. */
  public static long lowNs(int bin) {
    if (bin < PER_OCTAVE) {
      return bin;
    }
    int shift = bin / PER_OCTAVE - 1;
    return (long) (bin - shift * PER_OCTAVE) << shift;
  }
}
