package io.helenus.agent.valves;

import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Refusal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The requested settings of a valve, by the names that commands and files of valves share.
 *
 * <ul>
 *   <li>{@code name}: needed.
 *   <li>{@code at}: a point or a list of them, or {@code stage}: a stage; one of the two.
 *   <li>{@code law}: needed; {@code parameters}: those of the law.
 *   <li>{@code min}, {@code max}: the range of the limit; by default 1, and 128 at points or the
 *       stage's own setting.
 *   <li>{@code order}: {@code fifo}, {@code lifo} or {@code class}; {@code weights}: by point.
 *   <li>{@code max_wait_ms}: how long a call waits at most; 1000.
 *   <li>{@code refuse}: whether it is then refused instead of let through; false.
 *   <li>{@code watchdog_ms}: the valve opens when no request leaves for so long while some wait;
 *       5000.
 *   <li>{@code lease_ms}: the valve opens when the lease is not renewed for so long; 0 is never.
 *   <li>{@code at_most}: how many methods a point may match; 50.
 * </ul>
 */
final class Settings {
  private static final List<String> NAMES =
      List.of(
          "name",
          "at",
          "stage",
          "law",
          "parameters",
          "min",
          "max",
          "order",
          "weights",
          "max_wait_ms",
          "refuse",
          "watchdog_ms",
          "lease_ms",
          "at_most");

  /** Settings that determine the woven code and the order of the queue; they can't be changed. */
  private static final List<String> FIXED =
      List.of("name", "at", "stage", "order", "weights", "at_most");

  private static final int MOST_PERMITS = 1 << 20;
  private static final int DEFAULT_MAX = 128;
  private static final long LONGEST_MS = TimeUnit.DAYS.toMillis(1);

  private final Map<String, Object> given;

  final String name;
  final List<String> at;

  /** The stage; null if the valve is at points. */
  final String stage;

  final String law;
  final Map<String, String> parameters;
  final int min;
  final int max;
  final Order order;
  final long maxWaitNs;
  final boolean refuse;
  final long watchdogNs;

  /** Length of the lease; 0 for none. */
  final long leaseNs;

  final int atMost;
  private final Map<String, Double> weights = new LinkedHashMap<>();

  /**
   * @throws Refusal naming the wrong setting and its allowed values
   */
  Settings(Map<?, ?> given) {
    this.given = new LinkedHashMap<>();
    given.forEach((key, value) -> this.given.put(String.valueOf(key), value));
    for (String key : this.given.keySet()) {
      if (!NAMES.contains(key)) {
        throw new Refusal(
            "a valve has no " + key,
            Nearest.hint(key, NAMES, "there are " + String.join(", ", NAMES)));
      }
    }
    name = text("name", null);
    stage = this.given.containsKey("stage") ? text("stage", null) : null;
    at = list(this.given.get("at"));
    if (at.isEmpty() == (stage == null)) {
      throw new Refusal("a valve stands at points or at a stage", "give one of at and stage");
    }
    law = text("law", null);
    parameters = texts(this.given.get("parameters"));
    min = (int) number("min", 1, 1, MOST_PERMITS);
    max =
        (int)
            number("max", stage == null ? DEFAULT_MAX : Stage.of(stage).largest(), 1, MOST_PERMITS);
    if (max < min) {
      throw new Refusal("max is " + max + " and below min, " + min, "give a larger max");
    }
    order = Order.of(text("order", "fifo"));
    maxWaitNs = ns("max_wait_ms", 1_000, 1);
    refuse = Boolean.parseBoolean(String.valueOf(this.given.getOrDefault("refuse", false)));
    watchdogNs = ns("watchdog_ms", 5_000, 10);
    leaseNs = ns("lease_ms", 0, 0);
    atMost = (int) number("at_most", io.helenus.agent.points.Points.BOUND, 1, 10_000);
    for (Map.Entry<String, String> weight : texts(this.given.get("weights")).entrySet()) {
      weights.put(weight.getKey(), weight(weight.getKey(), weight.getValue()));
    }
  }

  /** A copy with some settings changed. */
  Settings with(Map<?, ?> changes) {
    Map<String, Object> next = new LinkedHashMap<>(given);
    changes.forEach((key, value) -> next.put(String.valueOf(key), value));
    for (String fixed : FIXED) {
      if (changes.containsKey(fixed) && !String.valueOf(next.get(fixed)).equals(string(fixed))) {
        throw new Refusal(fixed + " of a valve can't change", "remove the valve and add it again");
      }
    }
    if (changes.containsKey("law") && !changes.containsKey("parameters")) {
      next.remove("parameters");
    }
    return new Settings(next);
  }

  private String string(String key) {
    return String.valueOf(given.get(key));
  }

  /** The weight of a point, by its text in {@code at}. */
  double weight(String point) {
    return weights.getOrDefault(point, 1.0);
  }

  private static double weight(String point, String text) {
    try {
      double weight = Double.parseDouble(text);
      if (weight > 0 && weight <= 1_000_000) {
        return weight;
      }
    } catch (NumberFormatException e) {
      // The absence of a point is reported below.
    }
    throw new Refusal("the weight of " + point + " is " + text, "give a number above 0");
  }

  private String text(String key, String otherwise) {
    Object value = given.getOrDefault(key, otherwise);
    if (!(value instanceof String) || ((String) value).isBlank()) {
      throw new Refusal("a valve needs " + key, "give " + key + " as a text");
    }
    return (String) value;
  }

  private static List<String> list(Object value) {
    List<String> texts = new ArrayList<>();
    if (value instanceof List) {
      ((List<?>) value).forEach(element -> texts.add(String.valueOf(element)));
    } else if (value != null) {
      texts.add(String.valueOf(value));
    }
    return texts;
  }

  private static Map<String, String> texts(Object value) {
    Map<String, String> texts = new LinkedHashMap<>();
    if (value instanceof Map) {
      ((Map<?, ?>) value).forEach((k, v) -> texts.put(String.valueOf(k), String.valueOf(v)));
    } else if (value != null) {
      throw new Refusal("\"" + value + "\" is no table of names and values", "give name = value");
    }
    return texts;
  }

  private long ns(String key, long otherwiseMs, long lowMs) {
    return TimeUnit.MILLISECONDS.toNanos(number(key, otherwiseMs, lowMs, LONGEST_MS));
  }

  private long number(String key, long otherwise, long low, long high) {
    Object value = given.getOrDefault(key, otherwise);
    boolean whole = value instanceof Long || value instanceof Integer;
    if (!whole || ((Number) value).longValue() < low || ((Number) value).longValue() > high) {
      throw new Refusal(key + " is " + value, "give a whole number from " + low + " to " + high);
    }
    return ((Number) value).longValue();
  }
}
