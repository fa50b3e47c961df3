package io.helenus.agent.sources;

import java.util.function.Consumer;
import java.util.function.Function;
import jdk.jfr.FlightRecorder;

/** Which source of pauses this JVM has; from JDK 17 it is JFR streaming, where JFR is to be had. */
public final class PauseProvider {
  private PauseProvider() {}

  /**
   * The best provider here, as pauses.provider names it: jfr or mxbean.
   *
   * @param withoutJfr whether JFR is not wanted
   */
  public static String best(boolean withoutJfr) {
    return !withoutJfr && hasJfr() ? "jfr" : "mxbean";
  }

  /**
   * Starts the best source of pauses.
   *
   * @param feed makes a feed for a provider, as sources.provider names it
   */
  public static Source start(boolean withoutJfr, Function<String, Feed> feed, Consumer<String> log)
      throws Exception {
    if (best(withoutJfr).equals("jfr")) {
      try {
        return JfrPauses.started(feed, log);
      } catch (Exception | LinkageError e) {
        log.accept("JFR cannot stream, GC notifications take its place: " + e);
      }
    }
    return GcNotifications.started(feed);
  }

  private static boolean hasJfr() {
    try {
      return FlightRecorder.isAvailable();
    } catch (LinkageError e) {
      // A JDK without the module jdk.jfr.
      return false;
    }
  }
}
