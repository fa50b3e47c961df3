package io.helenus.agent.valves;

import java.util.Locale;

/** The order in which requests that wait at a gate enter. */
enum Order {
  /** First in, first out; while calls are short, arriving threads take free room first. */
  FIFO,

  /** Last in, first out: under overload some requests are answered fast, instead of all slowly. */
  LIFO,

  /**
   * By the weights of the points, first in first out for each; arriving threads never enter before
   * waiting ones.
   */
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
