package io.helenus.agent.sources;

/** Something that is observed in the server, from its start until its stop. */
public interface Source {
  /** The account of what it captures. */
  Feed feed();

  /** Begins to observe; when it throws, it has undone what it had begun. */
  void start() throws Exception;

  /**
   * Ends it and leaves nothing behind in the server.
   *
   * @param drain whether someone still listens, so that waiting a moment for what was observed last
   *     is worth it
   */
  void stop(boolean drain) throws Exception;
}
