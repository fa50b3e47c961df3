package io.helenus.agent.sources;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/**
 * Ties JFR's clock to CLOCK_MONOTONIC: its start is on the one, its field on the other.
 *
 * <p>JFR stamps events with ticks of the CPU's counter and tells them as wall time, from where the
 * two stood when the chunk began and a frequency that was measured once: it drifts.
 */
@Name(ClockEvent.NAME)
@Label("Clock")
@Category("Helenus")
@Description("What System.nanoTime() gave between the event's start and its end")
@Registered(false)
@StackTrace(false)
final class ClockEvent extends Event {
  static final String NAME = "helenus.Clock";

  @Label("Monotonic Time")
  long nanoTime;

  /** Commits one. The shorter the event, the surer its times. */
  static void emit() {
    ClockEvent event = new ClockEvent();
    event.begin();
    event.nanoTime = System.nanoTime();
    event.end();
    event.commit();
  }
}
