package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class CpuDriftTest {
  private final Windows windows = Windows.of(125).times(10, 0);
  private final CpuDrift drift = new CpuDrift();

  @Test
  void whatFollowsTheSpeedIsExpectedToFollowItAndWhatDoesNotIsNot() {
    see(speed -> 1000 * speed);
    assertEquals(0.7, pace(0.7) / pace(1), 0.02);

    CpuDrift idle = new CpuDrift();
    see(idle, speed -> 1000);
    idle.learn();
    assertEquals(1, idle.pace(windows.cpuSpeed(0.7).build()), 0.001);
  }

  @Test
  void whatCollectionsTakeIsNotTakenForTheSpeedsDoing() {
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      // By chance it stands whenever the CPUs are slow, and does as much as ever when it does not.
      boolean slow = random.nextBoolean();
      windows.cpuSpeed(slow ? 0.8 : 1).gcShare(slow ? 0.5 : 0).completed(slow ? 500 : 1000);
      drift.add(windows.build());
    }
    drift.learn();
    assertEquals(1, pace(0.7) / pace(1), 0.001);
  }

  @Test
  void aLimitThatDoesMoreIsNotTakenForAFasterMachine() {
    for (int i = 0; i < 200; i++) {
      boolean few = i / 20 % 2 == 0;
      windows.limit(few ? 8 : 128).completed(few ? 200 : 100).cpuSpeed(few ? 1.1 : 1);
      drift.add(windows.build());
    }
    drift.learn();
    assertEquals(1, pace(1.1) / pace(1), 0.001);
  }

  @Test
  void whatIsNotMeasuredIsAsUsual() {
    see(speed -> 1000 * speed);
    drift.learn();
    assertEquals(1, drift.pace(windows.cpuSpeed(0).build()));
  }

  @Test
  void aFewWindowsShowLittle() {
    for (int i = 0; i < 4; i++) {
      windows.completed(i % 2 == 0 ? 105 : 100).cpuSpeed(i % 2 == 0 ? 1.05 : 1);
      drift.add(windows.build());
    }
    drift.learn();
    double share = Math.log(pace(2) / pace(1)) / Math.log(2);
    assertTrue(share > 0 && share < 0.2, "share " + share);
  }

  private void see(DoubleUnaryOperator completed) {
    see(drift, completed);
    drift.learn();
  }

  private void see(CpuDrift drift, DoubleUnaryOperator completed) {
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      double speed = Math.exp(0.2 * random.nextGaussian());
      windows.completed((long) completed.applyAsDouble(speed)).cpuSpeed(speed);
      drift.add(windows.build());
    }
  }

  private double pace(double speed) {
    return drift.pace(windows.cpuSpeed(speed).build());
  }
}
