package io.helenus.agent.points;

/** A request that can't be fulfilled: the reason, and a hint at a request that can. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The action to take instead; one sentence. */
  public final String hint;

  public Refusal(String why, String hint) {
    super(why);
    this.hint = hint;
  }
}
