package io.helenus.agent.valves.law;

/** The limit for the window to come, and why. */
public final class Decision {
  /** How many may be inside at once: at least 1, and between the law's smallest and largest. */
  public final int limit;

  /** One short sentence that a person can read. */
  public final String reason;

  public Decision(int limit, String reason) {
    this.limit = limit;
    this.reason = reason;
  }

  @Override
  public String toString() {
    return limit + ": " + reason;
  }
}
