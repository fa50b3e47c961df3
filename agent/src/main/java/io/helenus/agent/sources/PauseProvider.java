package io.helenus.agent.sources;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Which source of pauses a JVM has: what it logs of its safepoints and collections, and where that
 * can't be had, or the JVM is another, the notifications of its collectors.
 *
 * <p>JFR tells as much, but its first recording in a JVM redefines classes of the JDK, upon which
 * the JVM throws all compiled code away, unless it was started with an agent that may redefine: a
 * node under load then answers a fiftieth of its requests for some ten seconds.
 */
public final class PauseProvider {
  private PauseProvider() {}

  /**
   * The best provider here, as pauses.provider names it: log or mxbean.
   *
   * @param withoutLog whether the log is not wanted
   */
  public static String best(boolean withoutLog) {
    return withoutLog || Mbeans.areRemote() || !PauseLog.isAvailable() ? "mxbean" : "log";
  }

  /**
   * Starts the best source of pauses.
   *
   * @param feed makes a feed for a provider, as sources.provider names it
   */
  public static Source start(boolean withoutLog, Function<String, Feed> feed, Consumer<String> log)
      throws Exception {
    if (best(withoutLog).equals("log")) {
      PauseLog source = new PauseLog(feed.apply("agent-log"));
      try {
        source.start();
        return source;
      } catch (Exception | LinkageError e) {
        log.accept("what the JVM logs cannot be had, GC notifications take its place: " + e);
      }
    }
    return GcNotifications.started(feed);
  }
}
