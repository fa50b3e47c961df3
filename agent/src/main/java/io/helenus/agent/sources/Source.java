package io.helenus.agent.sources;

/** Observes something in the server from start until stop. */
public interface Source {
  /** The output of the source. */
  Feed feed();

  /** Begins to observe. If it throws, nothing is left to undo. */
  void start() throws Exception;

  /**
   * Ends the source and leaves nothing behind in the server.
   *
   * @param drain whether the recorder still listens, so that the last rows should be sent
   */
  void stop(boolean drain) throws Exception;
}
