package io.helenus.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @Test
  void readsWhatTheRecorderSends() {
    Object value =
        Json.parse(
            " {\"epoch_offset_ns\": 1763700000000000123, \"a\" :[1, -2.5e1,true,false,null, []],"
                + "\"n\":{\"x\":\"q\\\"\\u00e9\\n\"}, \"e\":{}} ");
    assertEquals(
        Map.of(
            "epoch_offset_ns",
            1763700000000000123L,
            "a",
            Arrays.asList(1L, -25.0, true, false, null, List.of()),
            "n",
            Map.of("x", "q\"é\n"),
            "e",
            Map.of()),
        value);
  }

  @Test
  void quotedStringsReadBack() {
    String odd = "a\"b\\c\n\u0001é/";
    assertEquals(odd, Json.parse(Json.quote(odd)));
    assertEquals("null", Json.quote(null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[1",
        "{\"a\"}",
        "{\"a\":}",
        "{,}",
        "[,]",
        "[1 2]",
        "nul",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "{} {}",
        "99999999999999999999",
        "\"\\uzzzz\"",
        "{\"a\":1 \"b\":2}"
      })
  void whatIsNoJsonIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> Json.parse(text));
  }

  @Test
  void nestingIsBounded() {
    assertThrows(IllegalArgumentException.class, () -> Json.parse("[".repeat(100_000)));
  }
}
