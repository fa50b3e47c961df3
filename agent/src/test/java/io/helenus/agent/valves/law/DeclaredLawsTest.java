package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.core.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The agent accepts the same laws and parameters that {@code helenus} checks before there is an
 * agent.
 */
class DeclaredLawsTest {
  private static final Path DECLARED = Path.of("../crates/control/declared/controls.json");
  private static final int MIN = 1;
  private static final int MAX = 128;

  private static Map<?, ?> laws() throws IOException {
    return (Map<?, ?>) ((Map<?, ?>) Json.parse(Files.readString(DECLARED))).get("laws");
  }

  @Test
  void theLawsAreThoseThatAreDeclared() throws IOException {
    assertEquals(new TreeSet<>(Laws.NAMES), new TreeSet<>(laws().keySet()));
  }

  /** An unknown parameter's error lists the known ones. */
  @Test
  void eachLawHasTheParametersThatAreDeclared() throws IOException {
    Map<String, String> declared = new TreeMap<>();
    Map<String, String> there = new TreeMap<>();
    laws()
        .forEach(
            (law, parameters) -> {
              String said =
                  ((Map<?, ?>) parameters)
                      .entrySet().stream()
                          .map(one -> one.getKey() + ": " + range((Map<?, ?>) one.getValue()))
                          .sorted()
                          .collect(Collectors.joining("\n"));
              declared.put((String) law, said);
              String message = refused((String) law, Map.of("?", "1"));
              there.put(
                  (String) law,
                  message
                      .lines()
                      .skip(1)
                      .map(String::strip)
                      .sorted()
                      .collect(Collectors.joining("\n")));
            });
    assertEquals(declared, there);
  }

  @Test
  void wholeNumbersAreDeclaredSo() throws IOException {
    laws()
        .forEach(
            (law, parameters) ->
                ((Map<?, ?>) parameters)
                    .forEach(
                        (name, of) -> {
                          Map<?, ?> parameter = (Map<?, ?>) of;
                          double least = number(parameter.get("least"));
                          double middle =
                              Math.floor((least + number(parameter.get("most"))) / 2) + 0.5;
                          Map<String, String> given =
                              Map.of((String) name, Double.toString(middle));
                          if (Boolean.TRUE.equals(parameter.get("whole"))) {
                            String message = refused((String) law, given);
                            assertTrue(message.contains("a whole number"), message);
                          } else if (middle < number(parameter.get("most"))) {
                            assertDoesNotThrow(
                                () -> Laws.of((String) law, given, MIN, MAX), law + " " + name);
                          }
                        }));
  }

  private static String refused(String law, Map<String, String> given) {
    return assertThrows(IllegalArgumentException.class, () -> Laws.of(law, given, MIN, MAX), law)
        .getMessage();
  }

  private static String range(Map<?, ?> parameter) {
    return plain(parameter.get("least"))
        + " to "
        + plain(parameter.get("most"))
        + ", default "
        + plain(parameter.get("default"));
  }

  private static String plain(Object bound) {
    double number = number(bound);
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }

  private static double number(Object bound) {
    if (bound instanceof Number) {
      return ((Number) bound).doubleValue();
    }
    return bound.equals("min") ? MIN : MAX;
  }
}
