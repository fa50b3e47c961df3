package io.helenus.agent.sources;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Chooses the source of pauses: the JVM's log, or GC notifications if the log can't be read or the
 * node is observed over JMX.
 *
 * <p>JFR reports as much, but its first recording in a JVM redefines classes of the JDK. That
 * deoptimizes all compiled code unless the JVM was started with an agent that may redefine classes:
 * a node under load then answers a fiftieth of its requests for some ten seconds.
 */
public final class PauseProvider {
  private PauseProvider() {}

  /**
   * The best provider in this JVM, a value of the column pauses.provider: log or mxbean.
   *
   * @param withoutLog whether the user excluded the log
   */
  public static String best(boolean withoutLog) {
    return withoutLog || Mbeans.areRemote() || !PauseLog.isAvailable() ? "mxbean" : "log";
  }

  /**
   * Starts the best source of pauses.
   *
   * @param feed makes a feed for a provider, a value of the column sources.provider
   */
  public static Source start(boolean withoutLog, Function<String, Feed> feed, Consumer<String> log)
      throws Exception {
    if (best(withoutLog).equals("log")) {
      PauseLog source = new PauseLog(feed.apply("agent-log"));
      try {
        source.start();
        return source;
      } catch (Exception | LinkageError e) {
        log.accept("the JVM's log cannot be read, GC notifications are used instead: " + e);
      }
    }
    return GcNotifications.started(feed);
  }
}
