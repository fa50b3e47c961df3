package io.helenus.agent.valves;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The agent accepts the same valve settings that {@code helenus} checks before there is an agent.
 */
class DeclaredSettingsTest {
  private static final Path DECLARED = Path.of("../crates/control/declared/controls.json");

  private static Map<?, ?> declared() throws IOException {
    return (Map<?, ?>) Json.parse(Files.readString(DECLARED));
  }

  private static Settings with(String name, long number) {
    Map<String, Object> given = new HashMap<>(Map.of("name", "v", "at", "lwt", "law", "fixed"));
    // The largest min requires an equally large max.
    given.put("max", 1L << 20);
    given.put(name, number);
    return new Settings(given);
  }

  @Test
  void numbersHaveTheRangesThatAreDeclared() throws IOException {
    ((Map<?, ?>) declared().get("valve"))
        .forEach(
            (name, of) -> {
              String key = (String) name;
              long least = (Long) ((Map<?, ?>) of).get("least");
              long most = (Long) ((Map<?, ?>) of).get("most");
              assertDoesNotThrow(() -> with(key, least), key);
              assertDoesNotThrow(() -> with(key, most), key);
              assertThrows(Refusal.class, () -> with(key, least - 1), key);
              assertThrows(Refusal.class, () -> with(key, most + 1), key);
            });
  }

  @Test
  void theLimitIsBoundedAsDeclaredByDefault() throws IOException {
    Map<?, ?> valve = (Map<?, ?>) declared().get("valve");
    Settings settings = new Settings(Map.of("name", "v", "at", "lwt", "law", "fixed"));
    assertEquals((long) (Long) ((Map<?, ?>) valve.get("min")).get("default"), settings.min);
    assertEquals((long) (Long) ((Map<?, ?>) valve.get("max")).get("default"), settings.max);
  }

  @Test
  void ordersAndStagesAreThoseThatAreDeclared() throws IOException {
    List<String> orders =
        Arrays.stream(Order.values())
            .map(order -> order.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.toList());
    assertEquals(declared().get("orders"), orders);
    List<String> stages =
        Arrays.stream(Stage.values()).map(Stage::toString).collect(Collectors.toList());
    assertEquals(declared().get("stages"), stages);
  }
}
