package io.helenus.agent.valves.law;

/** The limit for the window to come, and why. */
public final class Decision {
  /** How many requests may be inside at once: between the law's min and max. */
  public final int limit;

  /** The reason, one short sentence. */
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
