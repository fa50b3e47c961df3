package io.helenus.agent.crossing;

/**
 * One woven method that a thread is in. Frames are made once per depth of a thread and used again.
 *
 * <p>What the fields below mean is the matter of the site that fills them.
 */
public final class Frame {
  final Frame outer;
  Frame inner;
  final int depth;

  /** Number of the site that was entered; -1 when none was. */
  int number = -1;

  Site site;

  /** When the region was entered, System.nanoTime(); 0 when its time isn't taken. */
  public long startNs;

  /** How long the thread waited before the region, ns. */
  public long waitedNs;

  /** The time that callees with probes of their own took, ns. */
  public long calleesNs;

  /** The next frame outward whose site is a probe; null for the outermost. */
  public Frame caller;

  /** What the site counts into. */
  public Object account;

  /** CPU time of the thread when the region was entered, ns. */
  public long startCpuNs;

  /** Bytes that the thread had allocated when the region was entered. */
  public long startBytes;

  /** Whether this frame holds a permit of a gate. */
  public boolean permit;

  Frame(Frame outer) {
    this.outer = outer;
    this.depth = outer == null ? 0 : outer.depth + 1;
  }
}
