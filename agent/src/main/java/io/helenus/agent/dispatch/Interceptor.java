package io.helenus.agent.dispatch;

/** Handles the entries and exits of a woven method: a probe, or the gate of a valve. */
public interface Interceptor {
  /**
   * Handles the entry of a thread.
   *
   * @param frame keeps data of this call until its exit
   * @return the exception to refuse the call with; null to let the call in
   */
  RuntimeException enter(ThreadState state, Frame frame);

  /**
   * Handles the exit of a thread, once for each call that was let in.
   *
   * @param failed whether an exception leaves the method
   * @param nowNs System.nanoTime() of the exit; 0 at a site without a {@link
   *     Dispatcher#timedNumber}
   */
  void exit(ThreadState state, Frame frame, boolean failed, long nowNs);
}
