package io.helenus.agent.valves;

import java.util.Locale;

/** Which of those who wait at a gate goes in next. */
enum Order {
  /** First in, first out; while stays are short, arriving threads take free room first. */
  FIFO,

  /** Who came last: under overload some are served well instead of all badly. */
  LIFO,

  /** By the weights of the points, and who came first within each; nobody goes in before them. */
  CLASS;

  static Order of(String name) {
    try {
      return valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new io.helenus.agent.points.Refusal(
          "there is no order " + name, "there are fifo, lifo and class");
    }
  }
}
