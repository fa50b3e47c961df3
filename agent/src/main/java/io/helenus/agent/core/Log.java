package io.helenus.agent.core;

/**
 * The log of the agent. Its lines go to the recorder while it is connected, otherwise to the
 * server's standard error.
 */
public final class Log {
  /** The limit of lines, so that a repeated fault does not fill the server's log. */
  private static final int MOST_LINES_TO_STDERR = 20;

  private volatile Outbox outbox;
  private int linesToStderr;

  void to(Outbox outbox) {
    this.outbox = outbox;
  }

  public void line(String line) {
    Outbox recorder = outbox;
    if (recorder == null || !recorder.offer(Connection.frame(Connection.LOG, line))) {
      stderr(line);
    }
  }

  private synchronized void stderr(String line) {
    if (linesToStderr++ < MOST_LINES_TO_STDERR) {
      System.err.println("helenus agent: " + line);
    }
  }
}
