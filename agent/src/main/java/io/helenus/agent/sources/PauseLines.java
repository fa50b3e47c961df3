package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the lines that the JVM logs at the end of each pause into rows. A line begins with the
 * time on CLOCK_MONOTONIC:
 *
 * <pre>
 * [123ns] GC(38) Pause Young (Normal) (G1 Evacuation Pause) 824M->533M(1024M) 109.330ms
 * [124ns] Safepoint "G1CollectForAllocation", Time since last: 1357 ns, Reaching safepoint: 47 ns,
 *     Cleanup: 12 ns, At safepoint: 1107 ns, Total: 1166 ns
 * </pre>
 *
 * <p>Concurrent collectors log the heap's sizes in a line of their own, which may come after their
 * pauses: those pauses wait for it. Before JDK 13 a safepoint is two lines.
 */
final class PauseLines {
  private static final Pattern LINE = Pattern.compile("\\[(\\d+)ns] (.*)");
  private static final Pattern SAFEPOINT =
      Pattern.compile(
          "Safepoint \"([^\"]+)\", Time since last: +(\\d+) ns,"
              + " Reaching safepoint: +(\\d+) ns,.* Total: +(\\d+) ns.*");
  private static final Pattern ENTERING = Pattern.compile("Entering safepoint region: (.*)");
  private static final Pattern STOPPED =
      Pattern.compile(
          "Total time for which application threads were stopped: ([\\d.]+) seconds,"
              + " Stopping threads took: ([\\d.]+) seconds");
  private static final Pattern COLLECTION = Pattern.compile("GC\\((\\d+)\\) (?:([yYO]): )?(.*)");
  private static final String IN_BRACKETS = " \\(((?:[^()]|\\(\\))*)\\)";
  private static final Pattern PAUSE =
      Pattern.compile(
          "(Pause [A-Za-z ]*[a-zA-Z])((?:"
              + IN_BRACKETS
              + ")*)(?: \\d+[BKMG]->\\d+[BKMG]\\(\\d+[BKMG]\\))? ([\\d.]+)ms");
  private static final Pattern SIZES =
      Pattern.compile(" (\\d+)([BKMG])(?:\\(\\d+%\\))?->(\\d+)([BKMG])(?:\\(|$)");
  private static final Pattern CYCLE =
      Pattern.compile("(?:Garbage|Minor|Major) Collection" + IN_BRACKETS + ".*");

  /** The number of readings for which a pause waits for the heap's sizes. */
  private static final int LONGEST_WAIT_READINGS = 10;

  private static final int MOST_WAITING = 1_000;

  private final Feed feed;
  private final String collectors;
  private final SafepointEnds safepoints = new SafepointEnds();
  private final List<Pause> waiting = new ArrayList<>();
  private String operation;

  private static final class Pause {
    long collection;
    String collector;
    String cause;
    long startNs;
    long durationNs;
    int readings;
  }

  /**
   * @param collectors names of the MBeans of the JVM's collectors
   */
  PauseLines(Feed feed, String collectors) {
    this.feed = feed;
    this.collectors = collectors;
  }

  /** Parses a line without its line end. Lines about anything but pauses are ignored. */
  void take(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      return;
    }
    long endNs = Long.parseLong(matcher.group(1));
    String text = matcher.group(2);
    Matcher collection = COLLECTION.matcher(text);
    if (collection.matches()) {
      collection(endNs, collection);
    } else {
      safepoint(endNs, text);
    }
  }

  private void safepoint(long writtenNs, String text) {
    Matcher whole = SAFEPOINT.matcher(text);
    Matcher entering = ENTERING.matcher(text);
    Matcher stopped = STOPPED.matcher(text);
    if (whole.matches()) {
      long durationNs = Long.parseLong(whole.group(4));
      long endNs = safepoints.next(writtenNs, Long.parseLong(whole.group(2)), durationNs);
      write(endNs - durationNs, durationNs, whole.group(1), Long.parseLong(whole.group(3)));
    } else if (entering.matches()) {
      operation = entering.group(1);
    } else if (stopped.matches()) {
      long durationNs = ns(stopped.group(1), 9);
      write(writtenNs - durationNs, durationNs, operation, ns(stopped.group(2), 9));
      operation = null;
    }
  }

  private void write(long startNs, long durationNs, String operation, long timeToSafepointNs) {
    Tables.pause(
        feed.rows(),
        feed.at(startNs),
        durationNs,
        feed.node(),
        "safepoint",
        null,
        operation,
        null,
        null,
        null,
        null,
        timeToSafepointNs,
        "log");
  }

  private void collection(long endNs, Matcher line) {
    long id = Long.parseLong(line.group(1));
    String text = line.group(3);
    Matcher paused = PAUSE.matcher(text);
    if (paused.matches()) {
      Pause pause = new Pause();
      pause.collection = id;
      pause.collector = collector(paused.group(1), line.group(2));
      // In Shenandoah's lines the parentheses hold the mode of the pause, not its cause.
      pause.cause = collectors.contains("Shenandoah") ? null : paused.group(3);
      pause.durationNs = ns(paused.group(4), 6);
      pause.startNs = endNs - pause.durationNs;
      waiting.add(pause);
    }
    Matcher sizes = SIZES.matcher(text);
    Matcher cycle = CYCLE.matcher(text);
    String cause = cycle.matches() ? cycle.group(1) : null;
    // ZGC also logs each generation.
    if (sizes.find() && (cause != null || !collectors.contains("ZGC"))) {
      long before = bytes(sizes.group(1), sizes.group(2));
      long after = bytes(sizes.group(3), sizes.group(4));
      Iterator<Pause> pauses = waiting.iterator();
      while (pauses.hasNext()) {
        Pause pause = pauses.next();
        if (pause.collection == id) {
          write(pause, cause, before, after);
          pauses.remove();
        }
      }
    }
  }

  private void write(Pause pause, String cause, Long before, Long after) {
    Tables.pause(
        feed.rows(),
        feed.at(pause.startNs),
        pause.durationNs,
        feed.node(),
        "gc",
        pause.collection,
        pause.collector,
        pause.cause == null ? cause : pause.cause,
        null,
        before,
        after,
        null,
        "log");
  }

  /** After a reading: writes pauses that have waited too long, without the heap's sizes. */
  void expire() {
    Iterator<Pause> pauses = waiting.iterator();
    while (pauses.hasNext()) {
      Pause pause = pauses.next();
      if (++pause.readings > LONGEST_WAIT_READINGS || waiting.size() > MOST_WAITING) {
        write(pause, null, null, null);
        pauses.remove();
      }
    }
  }

  /** Writes all waiting pauses; no more lines will come. */
  void end() {
    waiting.forEach(pause -> write(pause, null, null, null));
    waiting.clear();
  }

  /** The collector's name in JFR. */
  private String collector(String pause, String generation) {
    boolean isYoung = pause.startsWith("Pause Young");
    boolean isFull = pause.startsWith("Pause Full");
    if (collectors.contains("G1")) {
      return isYoung ? "G1New" : isFull ? "G1Full" : "G1Old";
    }
    if (collectors.contains("ZGC")) {
      return generation == null ? "Z" : generation.equals("y") ? "ZGC Minor" : "ZGC Major";
    }
    if (collectors.contains("Shenandoah")) {
      return "Shenandoah";
    }
    if (collectors.contains("PS ")) {
      return isYoung ? "ParallelScavenge" : "ParallelOld";
    }
    if (collectors.contains("ConcurrentMarkSweep")) {
      return isYoung ? "ParNew" : isFull ? "SerialOld" : "ConcurrentMarkSweep";
    }
    return isYoung ? "DefNew" : "SerialOld";
  }

  /** Converts a decimal number to ns: {@code digits} is 9 for seconds and 6 for milliseconds. */
  private static long ns(String number, int digits) {
    return new BigDecimal(number).movePointRight(digits).longValue();
  }

  private static long bytes(String number, String unit) {
    return Long.parseLong(number) << 10 * "BKMG".indexOf(unit);
  }
}
