package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GcNotificationsTest {
  @ParameterizedTest
  @CsvSource({
    "G1 Young Generation, G1 Evacuation Pause, true",
    "G1 Old Generation, System.gc(), true",
    "PS MarkSweep, Ergonomics, true",
    "ZGC Pauses, Warmup, true",
    "ZGC Cycles, Warmup, false",
    "ZGC Minor Pauses, Allocation Rate, true",
    "ZGC Major Cycles, Warmup, false",
    "Shenandoah Pauses, Concurrent GC, true",
    "Shenandoah Cycles, Concurrent GC, false",
    "ConcurrentMarkSweep, No GC, false",
    "ConcurrentMarkSweep, Allocation Failure, true",
    "ParNew, Allocation Failure, true",
  })
  void onlyTimeInWhichThreadsStoodIsAPause(String collector, String cause, boolean pause) {
    assertEquals(pause, GcNotifications.isPause(collector, cause));
  }
}
