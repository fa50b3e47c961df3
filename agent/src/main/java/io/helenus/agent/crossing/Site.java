package io.helenus.agent.crossing;

/** Handles the entries and exits of a woven method: a probe, or the gate of a valve. */
public interface Site {
  /**
   * A thread enters.
   *
   * @param frame for what is to be known when it leaves
   * @return the exception to refuse the call with; null to let it in
   */
  RuntimeException enter(Traveller traveller, Frame frame);

  /**
   * The thread leaves, once for each time it was let in.
   *
   * @param failed whether an exception leaves the method
   * @param nowNs when, System.nanoTime(); 0 at a site without a {@link Crossings#timedNumber}
   */
  void exit(Traveller traveller, Frame frame, boolean failed, long nowNs);
}
