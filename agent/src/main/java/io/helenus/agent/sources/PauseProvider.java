package io.helenus.agent.sources;

import java.util.function.Consumer;
import java.util.function.Function;

/** Which source of pauses this JVM has; before JDK 17 it is GC notifications. */
public final class PauseProvider {
  private PauseProvider() {}

  /**
   * The best provider here, as pauses.provider names it: jfr or mxbean.
   *
   * @param withoutJfr whether JFR is not wanted
   */
  public static String best(boolean withoutJfr) {
    return "mxbean";
  }

  /**
   * Starts the best source of pauses.
   *
   * @param feed makes a feed for a provider, as sources.provider names it
   */
  public static Source start(boolean withoutJfr, Function<String, Feed> feed, Consumer<String> log)
      throws Exception {
    return GcNotifications.started(feed);
  }
}
