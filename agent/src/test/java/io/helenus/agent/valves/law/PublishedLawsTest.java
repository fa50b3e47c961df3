package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** fixed and gradient2 against figures worked out by hand from their formulas. */
class PublishedLawsTest {
  private static Law law(String name, String... parameters) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i < parameters.length; i += 2) {
      given.put(parameters[i], parameters[i + 1]);
    }
    return Laws.of(name, given, 1, 128);
  }

  @Test
  void fixedSaysItsLimitFromTheFirstWindowOn() {
    assertEquals(17, Windows.of(1).give(law("fixed", "limit", "17"), 1).limit);
  }

  @Test
  void gradient2BeginsWithItsInitialLimit() {
    Law law = law("gradient2", "initial", "30");
    assertEquals(1_000_000, law.windowNs());
    assertEquals(30, Windows.of(1).give(law, 1).limit);
    assertTrue(law.windowNs() > 1_000_000);
  }

  @Test
  void gradient2FollowsItsFormula() {
    Law law = law("gradient2", "initial", "50", "tolerance", "1", "queue", "4");
    Windows windows = Windows.of(250);
    // gradient 1: 50 * 0.8 + 54 * 0.2
    assertEquals(50, windows.give(law, 2).limit);
    assertEquals(51, windows.give(law, 1).limit); // 51.6
    for (int i = 0; i < 9; i++) {
      windows.give(law, 1);
    }
    int before = windows.give(law, 1).limit;
    // Ten times slower: the gradient is 0.5 at least, so the limit falls to 0.9 of it, and 0.8.
    Decision after = windows.times(100, 0).give(law, 1);
    assertEquals(before * 0.9 + 0.8, after.limit, 1);
  }

  @Test
  void gradient2LeavesAHardlyUsedLimit() {
    Law law = law("gradient2", "initial", "50");
    assertEquals(50, Windows.of(250).there(10, 0).give(law, 20).limit);
  }
}
