package io.helenus.agent.trial;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.tuning.TableBean;
import java.lang.management.ManagementFactory;
import java.util.Map;

/**
 * The commands for {@code helenus try}. The user's own node only takes and clears {@link
 * Snapshots}; all other commands are for throwaway nodes with a copy of a table.
 */
public final class TrialCommands {
  /**
   * The JVM option of the throwaway nodes that {@code helenus try} starts. It must be among the
   * JVM's start arguments, because anybody may set a property later.
   */
  static final String MARK = "-Dhelenus.throwaway=true";

  private final boolean throwaway;
  private Trim trim;

  public TrialCommands() {
    this(ManagementFactory.getRuntimeMXBean().getInputArguments().contains(MARK));
  }

  TrialCommands(boolean throwaway) {
    this.throwaway = throwaway;
  }

  /** Whether a command is one of these. */
  public static boolean answers(String what) {
    return what.startsWith("snapshot.") || what.startsWith("trial.");
  }

  /** Whether no operation is running whose result may still be asked for. */
  public boolean isIdle() {
    return trim == null;
  }

  public Object answer(String what, Map<?, ?> given) {
    if (what.startsWith("trial.") && !throwaway) {
      throw new Refusal(
          what + " is for throwaway nodes with a copy of a table, and this node is none",
          "helenus try starts such nodes, with " + MARK);
    }
    switch (what) {
      case "snapshot.node":
        return Snapshots.node(TableBean.of(text(given, "table")));
      case "snapshot.take":
        return Snapshots.take(
            text(given, "tag"), TableBean.of(text(given, "table")), text(given, "ttl"));
      case "snapshot.clear":
        return Snapshots.clear(text(given, "tag"), text(given, "keyspace"));
      case "trial.import":
        return Imports.load(TableBean.of(text(given, "table")), text(given, "folder"));
      case "trial.compact":
        return Imports.compact(
            TableBean.of(text(given, "table")), Boolean.TRUE.equals(given.get("on")));
      case "trial.trim":
        if (trim != null && !trim.isDone()) {
          throw new Refusal("a table is being trimmed already", "wait for it (trial.trimming)");
        }
        trim = Trim.start(TableBean.of(text(given, "table")), given.get("others"));
        return trim.state();
      case "trial.trimming":
        if (trim == null) {
          throw new Refusal("nothing is being trimmed", "begin with trial.trim");
        }
        boolean wasDone = trim.isDone();
        Object state = trim.state();
        if (wasDone) {
          trim = null;
        }
        return state;
      case "trial.reads":
        return ReadCounts.of(TableBean.of(text(given, "table")));
      default:
        throw new Refusal(
            "there is no command " + what,
            "there are snapshot.node, snapshot.take, snapshot.clear, trial.import, trial.compact,"
                + " trial.trim, trial.trimming, trial.reads");
    }
  }

  private static String text(Map<?, ?> given, String name) {
    Object value = given.get(name);
    if (!(value instanceof String)) {
      throw new Refusal("the command has no " + name, "see agent/PROTOCOL.md");
    }
    return (String) value;
  }
}
