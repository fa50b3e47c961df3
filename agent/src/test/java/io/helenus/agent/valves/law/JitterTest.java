package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class JitterTest {
  private final Windows windows = Windows.of(100).there(40, 0);
  private final Law law = Laws.of("jitter", Map.of(), 1, 128);

  @Test
  void calmIsLeftAlone() {
    assertEquals(128, windows.give(law, 100).limit);
  }

  @Test
  void aCollectionHoldsBackAndCalmLetsGo() {
    windows.give(law, 30);
    assertEquals(20, windows.gcShare(0.3).give(law, 1).limit); // half of 40
    windows.gcShare(0);
    assertEquals(20, windows.give(law, 2).limit);
    assertEquals(40, windows.give(law, 1).limit);
    assertEquals(80, windows.give(law, 1).limit);
    assertEquals(128, windows.give(law, 1).limit);
  }

  @Test
  void responseTimesThatJumpHoldBack() {
    windows.give(law, 30);
    boolean held = false;
    for (int i = 0; i < 5; i++) {
      held |= windows.times(i % 2 == 0 ? 10 : 30, 0).give(law, 1).limit == 20;
    }
    assertTrue(held);
  }

  @Test
  void itHoldsNoLongerThanItMayAndThenRests() {
    windows.give(law, 30);
    int held = 0;
    for (int i = 0; i < 200; i++) {
      held += windows.gcShare(0.3).give(law, 1).limit == 20 ? 1 : 0;
    }
    assertTrue(held <= 105 && held >= 60, held + " of 200");
  }

  @Test
  void itLetsGoWhenTheyPileUp() {
    windows.give(law, 30);
    windows.gcShare(0.3).give(law, 2);
    assertTrue(windows.there(20, 200).give(law, 1).limit > 20);
  }

  @Test
  void fewInsideAreNotHeldBack() {
    windows.there(3, 0).give(law, 30);
    assertEquals(128, windows.gcShare(0.5).give(law, 10).limit);
  }
}
