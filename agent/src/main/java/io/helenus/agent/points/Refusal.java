package io.helenus.agent.points;

/** What was asked for can't be done: why, and what would do. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What to do instead; one sentence. */
  public final String hint;

  public Refusal(String why, String hint) {
    super(why);
    this.hint = hint;
  }
}
