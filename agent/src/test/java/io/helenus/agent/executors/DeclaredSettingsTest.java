package io.helenus.agent.executors;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.valves.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The agent accepts the same executor settings that {@code helenus} checks before there is an
 * agent.
 */
class DeclaredSettingsTest {
  private static final Path DECLARED = Path.of("../crates/control/declared/controls.json");

  private static Map<?, ?> declared() throws IOException {
    return (Map<?, ?>) Json.parse(Files.readString(DECLARED));
  }

  private static Settings with(Map<String, ?> more) {
    Map<String, Object> given =
        new HashMap<>(Map.of("stage", "read", "kind", "batched-drain", "workers", 2L));
    given.putAll(more);
    return new Settings(given);
  }

  @Test
  void numbersHaveTheRangesThatAreDeclared() throws IOException {
    ((Map<?, ?>) declared().get("executor"))
        .forEach(
            (name, of) -> {
              String key = (String) name;
              long least = (Long) ((Map<?, ?>) of).get("least");
              long most = (Long) ((Map<?, ?>) of).get("most");
              assertDoesNotThrow(() -> with(Map.of(key, least)), key);
              assertDoesNotThrow(() -> with(Map.of(key, most)), key);
              assertThrows(Refusal.class, () -> with(Map.of(key, least - 1)), key);
              assertThrows(Refusal.class, () -> with(Map.of(key, most + 1)), key);
            });
  }

  @Test
  void kindsAndStagesAreThoseThatAreDeclared() throws IOException {
    for (Object kind : (List<?>) declared().get("executors")) {
      assertDoesNotThrow(() -> with(Map.of("kind", kind)), () -> String.valueOf(kind));
    }
    List<String> stages = new ArrayList<>();
    for (Stage stage : Stage.values()) {
      try {
        with(Map.of("stage", stage.toString()));
        stages.add(stage.toString());
      } catch (Refusal e) {
        // The executor of this stage can't be replaced.
      }
    }
    assertEquals(declared().get("executor_stages"), stages);
  }
}
