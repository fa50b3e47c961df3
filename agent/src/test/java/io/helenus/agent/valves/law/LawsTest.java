package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LawsTest {
  private static String refusal(String name, Map<String, String> parameters, int min, int max) {
    return assertThrows(IllegalArgumentException.class, () -> Laws.of(name, parameters, min, max))
        .getMessage();
  }

  @Test
  void everyNameMakesALawThatAsksForWindows() {
    for (String name : Laws.NAMES) {
      long windowNs = Laws.of(name, Map.of(), 1, 128).windowNs();
      assertTrue(windowNs > 0 && windowNs <= 10_000_000_000L, name + ": " + windowNs);
    }
  }

  @Test
  void anUnknownLawIsAnsweredWithTheNearestNames() {
    String message = refusal("throughputs", Map.of(), 1, 128);
    assertTrue(message.contains("\"throughputs\"; the nearest are throughput,"), message);
    assertTrue(refusal("gradient", Map.of(), 1, 8).contains("nearest are gradient2,"));
  }

  @Test
  void anUnknownParameterIsAnsweredWithThoseThereAre() {
    String message = refusal("response-time", Map.of("floors", "0.5"), 1, 128);
    assertTrue(message.contains("the law response-time has no parameter \"floors\""), message);
    assertTrue(message.contains("floor: 0 to 1, default 0.95"), message);
    assertTrue(message.contains("percentile"), message);
  }

  @Test
  void aValueOutOfRangeIsAnsweredWithTheRange() {
    String message = refusal("response-time", Map.of("floor", "1.5"), 1, 128);
    assertEquals("the law response-time takes for floor 0 to 1, not \"1.5\"", message);
    assertTrue(refusal("fixed", Map.of("limit", "129"), 1, 128).contains("1 to 128"));
    assertTrue(refusal("fixed", Map.of("limit", "7.5"), 1, 128).contains("a whole number"));
    assertTrue(refusal("throughput", Map.of("gain", "NaN"), 1, 128).contains("0.005 to 0.5"));
    assertTrue(refusal("throughput", Map.of("gain", "many"), 1, 128).contains("\"many\""));
  }

  @Test
  void limitsThatCannotBeAreRefused() {
    assertTrue(refusal("fixed", Map.of(), 0, 128).contains("min 0"));
    assertTrue(refusal("fixed", Map.of(), 9, 8).contains("max 8"));
  }
}
