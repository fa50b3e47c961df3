package io.helenus.agent.points;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Names similar to a mistyped one. */
public final class Nearest {
  private static final int MOST = 5;

  private Nearest() {}

  /** The nearest names, nearest first; none when nothing is near. */
  public static List<String> to(String wanted, Collection<String> names) {
    int bound = Math.max(2, wanted.length() / 2);
    return names.stream()
        .distinct()
        .filter(name -> distance(wanted, name, bound) <= bound || contains(name, wanted))
        .sorted(
            Comparator.<String>comparingInt(name -> distance(wanted, name, bound))
                .thenComparing(Comparator.naturalOrder()))
        .limit(MOST)
        .collect(Collectors.toList());
  }

  /** "did you mean A, B", or another hint if no name is near. */
  public static String hint(String wanted, Collection<String> names, String otherwise) {
    List<String> near = to(wanted, names);
    return near.isEmpty() ? otherwise : "did you mean " + String.join(", ", near) + "?";
  }

  private static boolean contains(String name, String wanted) {
    return name.toLowerCase(Locale.ROOT).contains(wanted.toLowerCase(Locale.ROOT));
  }

  /**
   * The edit distance without regard to case (Levenshtein, 1965). Beyond the bound any larger
   * number is returned.
   */
  static int distance(String one, String other, int bound) {
    String a = one.toLowerCase(Locale.ROOT);
    String b = other.toLowerCase(Locale.ROOT);
    if (Math.abs(a.length() - b.length()) > bound) {
      return bound + 1;
    }
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
