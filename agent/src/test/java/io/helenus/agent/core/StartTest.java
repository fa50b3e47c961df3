package io.helenus.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StartTest {
  @Test
  void intervalAndBoundHaveDefaults() {
    Start start =
        Start.parse("{\"epoch_offset_ns\":-5,\"node\":\"n\",\"sources\":[\"pools\",\"stalls\"]}");
    assertEquals(-5, start.epochOffsetNs);
    assertEquals("n", start.node);
    assertEquals(1000, start.intervalMs);
    assertEquals(10, start.stallBoundMs);
    assertEquals(List.of("pools", "stalls"), start.sources);
    assertNull(start.profilerFiles);
  }

  @Test
  void aProfilerIsKnownByItsFiles() {
    String begin = "{\"epoch_offset_ns\":1,\"node\":\"n\",\"sources\":[],\"profiler_files\":\"";
    assertEquals(".stacks-7-", Start.parse(begin + ".stacks-7-\"}").profilerFiles);
    // All names begin with nothing.
    assertNull(Start.parse(begin + "\"}").profilerFiles);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{}",
        "{\"epoch_offset_ns\":1.5,\"node\":\"n\",\"sources\":[]}",
        "{\"epoch_offset_ns\":1,\"sources\":[]}",
        "{\"epoch_offset_ns\":1,\"node\":\"n\"}",
        "{\"epoch_offset_ns\":1,\"node\":\"n\",\"sources\":[],\"interval_ms\":1}",
        "{\"epoch_offset_ns\":1,\"node\":\"n\",\"sources\":[],\"stall_bound_ms\":0}",
      })
  void whatIsNoStartIsRefused(String json) {
    assertThrows(IllegalArgumentException.class, () -> Start.parse(json));
  }
}
