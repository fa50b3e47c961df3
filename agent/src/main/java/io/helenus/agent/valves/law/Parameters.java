package io.helenus.agent.valves.law;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The parameters that a user gave to a law. The law reads each once; others are an error. */
final class Parameters {
  private final String law;
  private final Map<String, String> given;
  private final Map<String, String> asked = new LinkedHashMap<>();

  Parameters(String law, Map<String, String> given) {
    this.law = law;
    this.given = new TreeMap<>(given);
  }

  /**
   * A number within a range, ends included.
   *
   * @throws IllegalArgumentException naming the range
   */
  double number(String name, double otherwise, double least, double most) {
    asked.put(name, plain(least) + " to " + plain(most) + ", default " + plain(otherwise));
    String text = given.get(name);
    if (text == null) {
      return otherwise;
    }
    double number;
    try {
      number = Double.parseDouble(text.trim());
    } catch (NumberFormatException e) {
      number = Double.NaN;
    }
    // NaN fails this check, too.
    if (!(number >= least && number <= most)) {
      throw wrong(name, text, plain(least) + " to " + plain(most));
    }
    return number;
  }

  /**
   * A whole number within a range, ends included.
   *
   * @throws IllegalArgumentException naming the range
   */
  int whole(String name, int otherwise, int least, int most) {
    double number = number(name, otherwise, least, most);
    if (number != Math.rint(number)) {
      throw wrong(name, given.get(name), "a whole number, " + least + " to " + most);
    }
    return (int) number;
  }

  /** A time in milliseconds within a range, as ns. */
  long millis(String name, double otherwise, double least, double most) {
    return Math.round(1e6 * number(name, otherwise, least, most));
  }

  /**
   * Refuses parameters that the law has not read.
   *
   * @throws IllegalArgumentException listing the parameters there are
   */
  void refuseOthers() {
    TreeSet<String> others = new TreeSet<>(given.keySet());
    others.removeAll(asked.keySet());
    if (!others.isEmpty()) {
      StringBuilder names = new StringBuilder();
      asked.forEach((name, range) -> names.append("\n  ").append(name).append(": ").append(range));
      throw new IllegalArgumentException(
          "the law " + law + " has no parameter \"" + others.first() + "\"; it has" + names);
    }
  }

  private IllegalArgumentException wrong(String name, String text, String range) {
    return new IllegalArgumentException(
        "the law " + law + " takes for " + name + " " + range + ", not \"" + text + "\"");
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
