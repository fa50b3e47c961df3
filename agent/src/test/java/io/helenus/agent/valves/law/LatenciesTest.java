package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  @Test
  void everyTimeIsWithinItsBucket() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      long ns = (long) Math.exp(random.nextDouble() * Math.log(Latencies.LONGEST_NS));
      int bucket = Latencies.bucketOf(ns);
      assertTrue(Latencies.lowNs(bucket) <= ns && ns < Latencies.lowNs(bucket + 1), "at " + ns);
    }
  }

  @Test
  void bucketsAreNarrow() {
    for (int bucket = Latencies.PER_OCTAVE; bucket < Latencies.BUCKETS; bucket++) {
      double low = Latencies.lowNs(bucket);
      assertTrue(Latencies.lowNs(bucket + 1) / low <= 1.032, "bucket " + bucket);
    }
  }

  @Test
  void timesOutOfRangeGoToTheEnds() {
    assertEquals(0, Latencies.bucketOf(-5));
    assertEquals(Latencies.BUCKETS - 1, Latencies.bucketOf(Long.MAX_VALUE));
  }

  @Test
  void percentilesAreThoseOfTheTimes() {
    Random random = new Random(2);
    long[] times = new long[20_000];
    Latencies latencies = new Latencies();
    for (int i = 0; i < times.length; i++) {
      times[i] = Math.round(1e6 * Math.exp(random.nextGaussian()));
      latencies.record(times[i]);
    }
    Arrays.sort(times);
    for (double p : new double[] {1, 25, 50, 90, 99, 99.9}) {
      long exact = times[(int) (p / 100 * times.length)];
      assertEquals(1, latencies.percentile(p) / (double) exact, 0.02, "p" + p);
    }
  }

  @Test
  void addedOnesAreAsThoughRecordedTogether() {
    Latencies one = new Latencies();
    Latencies other = new Latencies();
    Latencies both = new Latencies();
    for (int i = 1; i <= 1000; i++) {
      (i % 3 == 0 ? one : other).record(i * 1000L);
      both.record(i * 1000L);
    }
    one.add(other);
    assertEquals(both.count(), one.count());
    assertEquals(both.percentile(99), one.percentile(99));
  }

  @Test
  void thereIsNoPercentileOfNothing() {
    assertEquals(0, new Latencies().percentile(99));
  }
}
