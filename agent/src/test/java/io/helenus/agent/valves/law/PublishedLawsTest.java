package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The published laws against figures worked out by hand from their formulas. */
class PublishedLawsTest {
  private static Law law(String name, String... parameters) {
    Map<String, String> given = new java.util.HashMap<>();
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
  void lawsOfTheirOwnEstimateBeginWithIt() {
    for (String name : new String[] {"vegas", "gradient2", "aimd"}) {
      Law law = law(name, "initial", "30");
      assertEquals(1_000_000, law.windowNs(), name);
      assertEquals(30, Windows.of(1).give(law, 1).limit, name);
      assertTrue(law.windowNs() > 1_000_000, name);
    }
  }

  @Test
  void aimdAddsOneAndTakesAShare() {
    Law law = law("aimd", "initial", "20");
    Windows windows = Windows.of(100);
    assertEquals(25, windows.give(law, 6).limit);
    assertEquals(22, windows.failed(1).give(law, 1).limit); // 25 * 0.9 = 22.5
    assertEquals(22, windows.failed(0).there(5, 0).give(law, 1).limit); // hardly used
  }

  @Test
  void aimdTakesSlowWindowsForFailures() {
    Law law = law("aimd", "initial", "20", "timeout_ms", "50");
    assertEquals(18, Windows.of(100).times(60, 0).give(law, 2).limit);
    // The wait at the valve itself does not count.
    law = law("aimd", "initial", "20", "timeout_ms", "50");
    assertEquals(21, Windows.of(100).times(10, 500).give(law, 2).limit);
  }

  @Test
  void vegasGrowsWithoutAQueueAndShrinksWithALongOne() {
    Law law = law("vegas", "initial", "20", "probe", "10000");
    Windows windows = Windows.of(100);
    assertEquals(20, windows.give(law, 2).limit); // learns 10 ms
    assertEquals(26, windows.give(law, 1).limit); // queue 0: 6 log10(20)
    assertEquals(27, windows.times(10.5, 0).give(law, 1).limit); // queue ceil(26 * 0.048) = 2
    assertEquals(26, windows.times(20, 0).give(law, 1).limit); // queue 14 > 6
    assertEquals(26, windows.times(11.8, 0).give(law, 1).limit); // queue 4: as it should be
    assertEquals(25, windows.times(11.8, 0).failed(1).give(law, 1).limit);
  }

  @Test
  void vegasTakesTheTimeWithoutLoadAnew() {
    Law law = law("vegas", "initial", "20", "probe", "30");
    Windows windows = Windows.of(100);
    windows.give(law, 2);
    // 30 times 20 requests at most, 100 a window: the times of before the change are forgotten.
    windows.times(20, 0).give(law, 6);
    int low = windows.give(law, 1).limit;
    assertTrue(windows.give(law, 5).limit > low, "it grows again");
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

  @Test
  void codelFallsFasterAndFasterWhileTheQueueStands() {
    Law law = law("codel", "target_ms", "5", "interval_ms", "100", "step", "0.05");
    Windows windows = Windows.of(25);
    assertEquals(128, windows.give(law, 4).limit);
    windows.there(100, 50).times(10, 50);
    assertEquals(128, windows.give(law, 3).limit); // not yet for an interval
    int first = windows.give(law, 1).limit;
    assertEquals(121, first); // 128 * 0.95
    int second = first - windows.give(law, 8).limit;
    int later = windows.give(law, 16).limit;
    assertTrue(second > 0 && first - second - later > second, "it falls faster: " + later);
    assertEquals(32, windows.give(law, 400).limit); // a quarter of max at least
  }

  @Test
  void codelLeavesAQueueThatDrainsNowAndThen() {
    Law law = law("codel");
    Windows windows = Windows.of(25);
    for (int i = 0; i < 50; i++) {
      windows.there(100, 50).times(10, 50).give(law, 3);
      assertEquals(128, windows.there(100, 0).times(10, 0).give(law, 1).limit);
    }
  }

  @Test
  void codelLetsGoOnceTheQueueIsGone() {
    Law law = law("codel");
    Windows windows = Windows.of(25);
    windows.there(100, 50).times(10, 50).give(law, 200);
    assertEquals(128, windows.there(20, 0).times(10, 0).give(law, 400).limit);
  }
}
