package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class DifferenceTest {
  private static Sample normal(Random random, int count, double mean, double deviation) {
    Sample sample = new Sample();
    for (int i = 0; i < count; i++) {
      sample.add(mean + deviation * random.nextGaussian());
    }
    return sample;
  }

  @Test
  void itIsTheLogarithmOfTheRatio() {
    Random random = new Random(1);
    Difference difference =
        Difference.between(normal(random, 400, 150, 5), normal(random, 400, 100, 5), 1);
    assertEquals(Math.log(1.5), difference.mean, 0.01);
    assertTrue(difference.above() && !difference.below());
  }

  @Test
  void chanceIsRarelyTakenForADifference() {
    Random random = new Random(2);
    int taken = 0;
    for (int i = 0; i < 4000; i++) {
      Difference difference =
          Difference.between(normal(random, 8, 100, 10), normal(random, 16, 100, 10), 1);
      taken += difference.above() ? 1 : 0;
    }
    assertTrue(taken < 4000 / 100, taken + " of 4000");
  }

  @Test
  void aDifferenceOfTwiceTheDeviationIsSeldomMissed() {
    Random random = new Random(3);
    int seen = 0;
    for (int i = 0; i < 1000; i++) {
      Difference difference =
          Difference.between(normal(random, 8, 120, 10), normal(random, 16, 100, 10), 1);
      seen += difference.above() ? 1 : 0;
    }
    assertTrue(seen > 850, seen + " of 1000");
  }

  @Test
  void figuresThatAreAlikeSayLess() {
    Random random = new Random(4);
    Sample one = normal(random, 8, 110, 5);
    Sample other = normal(random, 8, 100, 5);
    Difference alone = Difference.between(one, other, 1);
    Difference alike = Difference.between(one, other, 9);
    assertEquals(3 * alone.error, alike.error, 1e-9);
    assertTrue(alone.above());
    assertFalse(alike.above());
  }

  @Test
  void neighboursThatAreAlikeAreNoticed() {
    History alike = new History();
    History apart = new History();
    Random random = new Random(5);
    double level = 0;
    for (int i = 0; i < 64; i++) {
      level = i % 8 == 0 ? 20 * random.nextGaussian() : level;
      alike.add(Windows.of(100).completed(Math.round(200 + level)).build());
      apart.add(Windows.of(100).completed(Math.round(200 + 20 * random.nextGaussian())).build());
    }
    double inflated = alike.inflation(Window::completedPerS);
    double plain = apart.inflation(Window::completedPerS);
    assertTrue(inflated > 5 && plain < 2.5, inflated + " and " + plain);
  }
}
