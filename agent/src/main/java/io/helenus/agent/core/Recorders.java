package io.helenus.agent.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The recorders that observe this JVM now, in the system property {@value #PROPERTY}.
 *
 * <p>Each attach is an agent of its own in its own class loader, perhaps from another version's
 * jar. All of them see a system property, and {@code jcmd PID VM.system_properties} shows it.
 * Several recorders may observe at the same time, because observing changes nothing in the server,
 * but only a few, because each costs CPU time.
 */
final class Recorders {
  static final String PROPERTY = "helenus.agent.recorders";
  private static final int MOST = 4;

  private Recorders() {}

  /** Adds a recorder. Returns null, or the reason if it was refused. */
  static String add(String recorder) {
    String[] refusal = new String[1];
    properties()
        .compute(
            PROPERTY,
            (key, value) -> {
              List<String> recorders = list(value);
              if (recorders.contains(recorder) || recorders.size() >= MOST) {
                refusal[0] = "already attached by " + String.join(", ", recorders);
                return value;
              }
              recorders.add(recorder);
              return String.join(" ", recorders);
            });
    return refusal[0];
  }

  static void remove(String recorder) {
    properties()
        .computeIfPresent(
            PROPERTY,
            (key, value) -> {
              List<String> recorders = list(value);
              recorders.remove(recorder);
              return recorders.isEmpty() ? null : String.join(" ", recorders);
            });
  }

  private static Map<Object, Object> properties() {
    return System.getProperties();
  }

  private static List<String> list(Object value) {
    return value == null
        ? new ArrayList<>()
        : new ArrayList<>(List.of(value.toString().split(" ")));
  }
}
