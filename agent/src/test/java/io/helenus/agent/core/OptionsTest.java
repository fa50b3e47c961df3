package io.helenus.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
  @Test
  void attachTriesOnce() throws IOException {
    Options options = new Options("connect=127.0.0.1:4711,token=ab12");
    assertEquals(4711, options.recorder().getPort());
    assertEquals("127.0.0.1", options.recorder().getHostString());
    assertEquals("ab12", options.token());
    assertFalse(options.patient());
    assertFalse(options.withoutLog());
  }

  @Test
  void tokenFileIsReadAnewEachTime(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("token");
    Options options = new Options("connect=[::1]:4711,token-file=" + file + ",pauses=mxbean");
    assertThrows(IOException.class, options::token);
    Files.writeString(file, "ab12\n");
    assertEquals("ab12", options.token());
    assertTrue(options.patient());
    assertTrue(options.withoutLog());
    assertEquals("0:0:0:0:0:0:0:1", options.recorder().getAddress().getHostAddress());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "connect=127.0.0.1:4711",
        "token=ab12",
        "connect=127.0.0.1,token=ab12",
        "connect=127.0.0.1:x,token=ab12",
        "connect=127.0.0.1:70000,token=ab12",
        "connect=127.0.0.1:4711,token=ab12,token-file=x",
        "connect=127.0.0.1:4711,token=ab12,pauses=jfr",
        "connect=127.0.0.1:4711,token=ab12,colour=red",
      })
  void wrongOptionsAreNamed(String text) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> new Options(text)).getMessage();
    assertTrue(message.matches("(?s).*(connect=|token=|pauses=).*"), message);
  }
}
