package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class LoadChangeDetectorTest {
  private final LoadChangeDetector load = new LoadChangeDetector();
  private final Windows windows = Windows.of(125).there(40, 0);

  /** The number of windows after which a change of the load is detected; 0 for never. */
  private int detectedAfter(int most) {
    for (int window = 1; window <= most; window++) {
      if (load.changed(windows.build())) {
        return window;
      }
    }
    return 0;
  }

  @Test
  void aLoadThatMultipliesIsNoticedSoonerThanOneThatDoubles() {
    assertFalse(detectedAfter(40) > 0);
    windows.there(80, 0);
    int doubled = detectedAfter(400);
    load.restart();
    windows.there(40, 0);
    detectedAfter(40);
    windows.there(128, 1000);
    int multiplied = detectedAfter(400);
    assertTrue(multiplied > 0 && multiplied < 4, "multiplied: " + multiplied);
    assertTrue(doubled > multiplied, "doubled: " + doubled);
  }

  @Test
  void aServerThatBecomesSlowIsNoticed() {
    detectedAfter(40);
    windows.completed(40);
    assertTrue(detectedAfter(40) > 0);
  }

  @Test
  void fluctuationByAQuarterIsNoChange() {
    Random random = new Random(1);
    for (int window = 0; window < 4000; window++) {
      windows.completed(75 + random.nextInt(51)).there(30 + random.nextInt(21), 0);
      assertFalse(load.changed(windows.build()), "window " + window);
    }
  }
}
