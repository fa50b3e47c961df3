package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.valves.law.Trial.Verdict;
import org.junit.jupiter.api.Test;

class TrialTest {
  private static final double GAIN = 0.03;
  private static final double NO_FLOOR = Double.NEGATIVE_INFINITY;

  /**
   * Runs a trial of a candidate that is better by a given ratio, on a server that drifts from
   * window to window.
   */
  private static Verdict verdict(double better, double rates, double drift, double leastRate) {
    Trial trial = new Trial(8, GAIN);
    Verdict verdict = Verdict.OPEN;
    for (int window = 0; window < 100 && verdict == Verdict.OPEN; window++) {
      boolean candidate = trial.isCandidateNext();
      double drifted = drift * window;
      trial.add(
          drifted + (candidate ? Math.log(better) : 0),
          drifted + (candidate ? Math.log(rates) : 0));
      verdict = trial.verdict(leastRate);
    }
    return verdict;
  }

  @Test
  void aBlockIsCandidateIncumbentIncumbentCandidate() {
    Trial trial = new Trial(8, GAIN);
    StringBuilder order = new StringBuilder();
    for (int window = 0; window < 8; window++) {
      order.append(trial.isCandidateNext() ? 'C' : 'I');
      trial.add(0, 0);
    }
    assertEquals("CIICCIIC", order.toString());
  }

  @Test
  void aGainIsBetterAndALossOrNothingIsNot() {
    assertEquals(Verdict.BETTER, verdict(1.2, 1.2, 0, NO_FLOOR));
    assertEquals(Verdict.NO_BETTER, verdict(1, 1, 0, NO_FLOOR));
    assertEquals(Verdict.NO_BETTER, verdict(0.9, 0.9, 0, NO_FLOOR));
  }

  @Test
  void aServerThatBecomesSteadilyFasterMakesNoCandidateBetter() {
    assertEquals(Verdict.NO_BETTER, verdict(1, 1, 0.2, NO_FLOOR));
    assertEquals(Verdict.BETTER, verdict(1.2, 1.2, -0.2, NO_FLOOR));
  }

  @Test
  void aShorterTimeAtLessThroughputThanTheFloorIsNoBetter() {
    double floor = Math.log(0.95);
    assertEquals(Verdict.BETTER, verdict(1.5, 0.97, 0, floor));
    assertEquals(Verdict.NO_BETTER, verdict(1.5, 0.9, 0, floor));
  }

  @Test
  void theResultHasItsMarginForPeople() {
    Trial trial = new Trial(8, GAIN);
    for (int window = 0; window < 4; window++) {
      trial.add(trial.isCandidateNext() ? Math.log(1.25) : 0, 0);
    }
    assertTrue(trial.toString().startsWith("+25 % ± "), trial.toString());
  }
}
