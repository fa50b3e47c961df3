package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class PairedTestTest {
  @Test
  void theMarginFollowsItsFormula() {
    PairedTest test = new PairedTest();
    assertEquals(Double.POSITIVE_INFINITY, test.margin());
    test.add(0.2);
    // One ratio has the prior's deviation: 0.08 * sqrt(2 ln(2 / 0.01)).
    assertEquals(0.08 * Math.sqrt(2 * Math.log(200)), test.margin(), 1e-12);
    test.add(0.4);
    double deviation = Math.sqrt((3 * 0.08 * 0.08 + 0.02) / 4);
    assertEquals(0.3, test.mean(), 1e-12);
    assertEquals(deviation / Math.sqrt(2), test.error(), 1e-12);
    assertEquals(deviation / 2 * Math.sqrt(3 * Math.log(300)), test.margin(), 1e-12);
  }

  @Test
  void lookingAfterEachRatioSeldomTakesChanceForADifference() {
    Random random = new Random(1);
    int wrong = 0;
    for (int run = 0; run < 1000; run++) {
      PairedTest test = new PairedTest();
      boolean differs = false;
      for (int i = 0; i < 64 && !differs; i++) {
        test.add(0.1 * random.nextGaussian());
        differs = Math.abs(test.mean()) > test.margin();
      }
      wrong += differs ? 1 : 0;
    }
    // ALPHA holds for a known deviation; estimating the deviation adds half as much.
    assertTrue(wrong <= 180, wrong + " of 1000");
  }

  @Test
  void aDifferenceIsFound() {
    Random random = new Random(2);
    PairedTest test = new PairedTest();
    for (int i = 0; i < 20; i++) {
      test.add(0.1 + 0.05 * random.nextGaussian());
    }
    assertTrue(test.mean() > test.margin());
  }
}
