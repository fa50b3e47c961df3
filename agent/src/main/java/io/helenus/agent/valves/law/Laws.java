package io.helenus.agent.valves.law;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Makes laws by their names. */
public final class Laws {
  /** The names of all laws there are. */
  public static final List<String> NAMES =
      List.of("fixed", "throughput", "response-time", "gradient2");

  /** The largest limit that a law may be asked for. */
  public static final int LARGEST = 1_000_000;

  private Laws() {}

  /**
   * Makes a law.
   *
   * @param name one of {@link #NAMES}
   * @param parameters those given by the user; the others have their defaults
   * @param min the smallest limit that the law may decide, at least 1
   * @param max the largest limit that the law may decide, at least min
   * @throws IllegalArgumentException saying what is wrong and what would be right
   */
  public static Law of(String name, Map<String, String> parameters, int min, int max) {
    if (min < 1 || max < min || max > LARGEST) {
      throw new IllegalArgumentException(
          "limits need 1 <= min <= max <= " + LARGEST + ", not min " + min + " and max " + max);
    }
    Parameters given = new Parameters(name, parameters);
    Law law = law(name, given, min, max);
    given.refuseOthers();
    return law;
  }

  private static Law law(String name, Parameters given, int min, int max) {
    switch (name) {
      case "fixed":
        return new Fixed(given, min, max);
      case "throughput":
        return new Search(new Throughput(), given, min, max);
      case "response-time":
        return new Search(new ResponseTime(given), given, min, max);
      case "gradient2":
        return new Gradient2(given, min, max);
      default:
        throw new IllegalArgumentException(
            "there is no law \""
                + name
                + "\"; the nearest are "
                + String.join(", ", nearest(name))
                + "; all: "
                + String.join(", ", NAMES));
    }
  }

  private static List<String> nearest(String name) {
    TreeMap<Integer, List<String>> byDistance =
        NAMES.stream()
            .collect(
                Collectors.groupingBy(
                    law -> distance(name, law), TreeMap::new, Collectors.toList()));
    return byDistance.values().stream().flatMap(List::stream).limit(3).collect(Collectors.toList());
  }

  /** The edit distance: how many letters to add, drop or change (Levenshtein, 1966). */
  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int change = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[other.length()];
  }
}
