package io.helenus.agent.shadow;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.tuning.TableBean;
import java.lang.management.ManagementFactory;
import java.util.Map;

/**
 * The commands for {@code helenus try}. Of the node that is asked about only {@link Snapshots} are
 * taken and cleared; all others are for throwaway nodes with a copy of a table.
 */
public final class Shadows {
  /**
   * An option of the JVM that only {@code helenus try} gives, to the nodes that it starts. It is
   * looked for among what the JVM was started with: a property can be set later, by others too.
   */
  static final String MARK = "-Dhelenus.throwaway=true";

  private final boolean throwaway;
  private Cut cut;

  public Shadows() {
    this(ManagementFactory.getRuntimeMXBean().getInputArguments().contains(MARK));
  }

  Shadows(boolean throwaway) {
    this.throwaway = throwaway;
  }

  /** Whether a command is one of these. */
  public static boolean answers(String what) {
    return what.startsWith("snapshot.") || what.startsWith("shadow.");
  }

  /** Whether nothing is under way that somebody will ask about. */
  public boolean isIdle() {
    return cut == null;
  }

  public Object answer(String what, Map<?, ?> given) {
    if (what.startsWith("shadow.") && !throwaway) {
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
      case "shadow.import":
        return Imports.load(TableBean.of(text(given, "table")), text(given, "folder"));
      case "shadow.compact":
        return Imports.compact(
            TableBean.of(text(given, "table")), Boolean.TRUE.equals(given.get("on")));
      case "shadow.cut":
        if (cut != null && !cut.isDone()) {
          throw new Refusal("a table is being cut already", "wait for it (shadow.cutting)");
        }
        cut = Cut.start(TableBean.of(text(given, "table")), given.get("others"));
        return cut.state();
      case "shadow.cutting":
        if (cut == null) {
          throw new Refusal("nothing is being cut", "begin with shadow.cut");
        }
        boolean wasDone = cut.isDone();
        Object state = cut.state();
        if (wasDone) {
          cut = null;
        }
        return state;
      case "shadow.reads":
        return ReadCounts.of(TableBean.of(text(given, "table")));
      default:
        throw new Refusal(
            "there is no command " + what,
            "there are snapshot.node, snapshot.take, snapshot.clear, shadow.import, shadow.compact,"
                + " shadow.cut, shadow.cutting, shadow.reads");
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
