package io.helenus.agent.dispatch;

/**
 * One call of a woven method that a thread is in. Each thread has one frame object per depth and
 * reuses it.
 *
 * <p>Probes and gates use different fields.
 */
public final class Frame {
  /** How many woven methods the thread was in when it entered this one. */
  public final int depth;

  /** Number of the site that was entered. */
  int number;

  /** The interceptor that saw the entry; null if the site had none. */
  Interceptor interceptor;

  /** When the method was entered, System.nanoTime(); 0 for a call that is not timed. */
  public long startNs;

  /** How long the thread waited at the gate, ns. */
  public long waitedNs;

  /** Time spent in callees that have a probe of their own, ns. */
  public long calleesNs;

  /** The depth of the nearest outer frame of a probe; -1 for none. */
  public int caller;

  private Object counters;

  /** CPU time of the thread when it entered the method, ns. */
  public long startCpuNs;

  /** Bytes that the thread had allocated when it entered the method. */
  public long startBytes;

  /** Whether this frame holds a permit of a gate. */
  public boolean permit;

  Frame(int depth) {
    this.depth = depth;
  }

  /** The thread's counters of the interceptor. */
  public Object counters() {
    return counters;
  }

  /** Compares before it writes, because usually nothing changes, and a write costs a GC barrier. */
  public void counters(Object counters) {
    if (this.counters != counters) {
      this.counters = counters;
    }
  }

  void enter(int number, Interceptor interceptor) {
    this.number = number;
    if (this.interceptor != interceptor) {
      this.interceptor = interceptor;
    }
  }
}
