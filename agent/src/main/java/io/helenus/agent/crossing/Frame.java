package io.helenus.agent.crossing;

/**
 * One woven method that a thread is in. Frames are made once per depth of a thread and used again.
 *
 * <p>The site that fills the fields below defines their meaning.
 */
public final class Frame {
  /** How many woven methods the thread was in when it entered this one. */
  public final int depth;

  /** Number of the site that was entered. */
  int number;

  /** The site that was entered; null if the number has no site. */
  Site site;

  /** When the region was entered, System.nanoTime(); 0 when its time isn't taken. */
  public long startNs;

  /** How long the thread waited before the region, ns. */
  public long waitedNs;

  /** The time that callees with probes of their own took, ns. */
  public long calleesNs;

  /** The depth of the next frame outward whose site is a probe; -1 for none. */
  public int caller;

  private Object account;

  /** CPU time of the thread when the region was entered, ns. */
  public long startCpuNs;

  /** Bytes that the thread had allocated when the region was entered. */
  public long startBytes;

  /** Whether this frame holds a permit of a gate. */
  public boolean permit;

  Frame(int depth) {
    this.depth = depth;
  }

  /** The account in which the site counts. */
  public Object account() {
    return account;
  }

  /** Mostly it is what it was, and a look costs less than the collector's barrier at a write. */
  public void account(Object account) {
    if (this.account != account) {
      this.account = account;
    }
  }

  void enter(int number, Site site) {
    this.number = number;
    if (this.site != site) {
      this.site = site;
    }
  }
}
