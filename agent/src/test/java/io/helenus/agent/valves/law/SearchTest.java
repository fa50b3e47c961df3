package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.valves.law.Cases.Case;
import io.helenus.agent.valves.law.SimulatedServer.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The laws that search, on simulated servers, for two minutes of simulated time each. */
class SearchTest {
  private static final int LENGTH_S = 120;
  private static final long[] SEEDS = {7, 8, 9};
  private static final Map<String, Run> RUNS = new TreeMap<>();

  private static Law law(String name) {
    return name.endsWith("p99")
        ? Laws.of("response-time", Map.of("percentile", "99"), 1, Cases.MAX)
        : Laws.of(name, Map.of(), 1, Cases.MAX);
  }

  private static Run run(Case server, String law, long seed) {
    return RUNS.computeIfAbsent(
        server.name + " " + law + " " + seed, unknown -> server.run(law(law), LENGTH_S, seed));
  }

  private static double mean(LongToDoubleFunction ofSeed) {
    return LongStream.of(SEEDS).mapToDouble(ofSeed).average().orElseThrow();
  }

  private static double perS(Case server, String law, double fromS, double toS) {
    return mean(seed -> run(server, law, seed).perS(fromS, toS));
  }

  private static double none(Case server, double fromS, double toS) {
    return mean(seed -> server.fixed(Cases.MAX, seed).perS(fromS, toS));
  }

  /** The gain over no limit, as a share of the best fixed limit's gain. */
  private static double won(Case server, String law, double fromS, double toS) {
    int best = server.bestLimit(fromS, toS);
    double none = none(server, fromS, toS);
    double gain = mean(seed -> server.fixed(best, seed).perS(fromS, toS)) - none;
    return (perS(server, law, fromS, toS) - none) / gain;
  }

  private static Stream<Arguments> with(List<Case> servers, String... laws) {
    return servers.stream()
        .flatMap(server -> Stream.of(laws).map(law -> Arguments.of(server, law)));
  }

  static Stream<Arguments> nothingToWin() {
    return with(Cases.NOTHING_TO_WIN, "throughput", "response-time");
  }

  static Stream<Arguments> percentiles() {
    return with(Cases.NOTHING_TO_WIN, "response-time p99");
  }

  static Stream<Arguments> somethingToWin() {
    return with(Cases.SOMETHING_TO_WIN, "throughput", "response-time");
  }

  static Stream<Arguments> changing() {
    return with(Cases.CHANGING, "throughput", "response-time");
  }

  static Stream<Arguments> all() {
    return Stream.of(nothingToWin(), somethingToWin(), changing()).flatMap(one -> one);
  }

  static Stream<Arguments> responseTimes() {
    List<Case> servers = new ArrayList<>(Cases.NOTHING_TO_WIN);
    servers.addAll(Cases.SOMETHING_TO_WIN);
    return with(servers, "response-time", "response-time p99");
  }

  static Stream<Arguments> collecting() {
    List<Case> servers = new ArrayList<>(Cases.HARD);
    servers.removeIf(server -> !server.name.matches("heap|scans.*"));
    // The documentation names this case as not found: a heap that fills more slowly than a search
    // takes.
    servers.removeIf(server -> server.name.equals("scans, shared, later"));
    return with(servers, "throughput");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("nothingToWin")
  void learningThatNothingIsToBeWonCostsTwoPercentAtMost(Case server, String law) {
    double share = perS(server, law, 0, LENGTH_S) / none(server, 0, LENGTH_S);
    assertTrue(share >= 0.98, "did " + share + " of none");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("percentiles")
  void aPercentileCostsNoMoreThroughputThanItsFloor(Case server, String law) {
    double share = perS(server, law, 0, LENGTH_S) / none(server, 0, LENGTH_S);
    assertTrue(share >= 0.95, "did " + share + " of none");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("somethingToWin")
  void mostOfTheGainIsWonAfterTwentySeconds(Case server, String law) {
    double share = won(server, law, 20, 60);
    assertTrue(share >= 0.85, "won " + share + " of the gain");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("collecting")
  void mostOfTheGainIsWonWhereCollectionsMatter(Case server, String law) {
    double share = won(server, law, 75, LENGTH_S);
    assertTrue(share >= 0.85, "won " + share + " of the gain");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("changing")
  void afterAChangeItSettlesWithinFifteenSeconds(Case server, String law) {
    double fromS = Cases.CHANGE_S + 15;
    double share = perS(server, law, fromS, LENGTH_S) / server.bestPerS(fromS, LENGTH_S);
    assertTrue(share >= 0.95, "did " + share + " of the best");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("all")
  void theIncumbentHoldsForMostOfTheTime(Case server, String law) {
    double away =
        mean(
            seed -> {
              Run run = run(server, law, seed);
              return run.awayShare(run.usualLimit(75, LENGTH_S), 75, LENGTH_S);
            });
    assertTrue(away <= 0.3, "away for " + away + " of the time");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("responseTimes")
  void slowRequestsAreNoSlowerThanWithoutALimit(Case server, String law) {
    double ratio =
        mean(
            seed -> {
              double none = server.fixed(Cases.MAX, seed).latencies.percentile(99);
              return run(server, law, seed).latencies.percentile(99) / none;
            });
    assertTrue(ratio <= 1.15, "p99 " + ratio + " times that of none");
  }

  @Test
  void whereNothingIsToBeWonThereIsNoLimitInTheEnd() {
    for (Case server : Cases.NOTHING_TO_WIN) {
      assertEquals(Cases.MAX, run(server, "throughput", 7).usualLimit(75, LENGTH_S), server.name);
    }
  }

  @Test
  void aPeakBehindADipIsFound() {
    Case peaks = named("two peaks");
    assertTrue(won(peaks, "throughput", 20, LENGTH_S) >= 0.85);
  }

  @Test
  void clientsThatJoinLoseLittleByALimitThatWasFoundForFew() {
    for (String name : List.of("throughput", "response-time")) {
      for (Case server : List.of(Cases.TRANSACTIONS, Cases.TRANSACTIONS_JOINING)) {
        double later = perS(server, name, 20, LENGTH_S) / none(server, 20, LENGTH_S);
        assertTrue(later >= 0.98, name + " did " + later + " of none with " + server);
        double surge =
            perS(server, name, Cases.JOIN_S, Cases.SURGED_S)
                / none(server, Cases.JOIN_S, Cases.SURGED_S);
        assertTrue(surge >= 0.92, name + " did " + surge + " of none with " + server);
      }
    }
  }

  /**
   * Gives the law windows of a server without noise until a candidate is accepted; returns the
   * limit.
   */
  private static int untilItTries(Law law, Windows windows) {
    int limit = Cases.MAX;
    for (int i = 0; i < 200 && limit == Cases.MAX; i++) {
      limit = windows.give(law, 1).limit;
    }
    assertTrue(limit < Cases.MAX, "a candidate is tried");
    return limit;
  }

  @Test
  void errorsEndATrial() {
    Law law = law("throughput");
    Windows windows = Windows.of(125).there(Cases.MAX, 70);
    int tried = untilItTries(law, windows);
    windows.there(tried, 200 - tried);
    assertEquals(Cases.MAX, windows.failed(20).give(law, 1).limit);
  }

  @Test
  void aQueueThatGrowsEndsATrial() {
    Law law = law("throughput");
    Windows windows = Windows.of(125).there(60, 0);
    int tried = untilItTries(law, windows);
    assertTrue(windows.completed(50).there(tried, 200).give(law, 1).limit > tried);
  }

  @Test
  void clientsThatJoinDuringATrialAreNoQueueWhileMoreCompletes() {
    Law law = law("throughput");
    Windows windows = Windows.of(125).there(60, 0);
    int tried = untilItTries(law, windows);
    assertEquals(tried, windows.completed(110).there(tried, 200).give(law, 1).limit);
  }

  @Test
  void oneCollectionIsNoReasonToMove() {
    Law law = law("throughput");
    Windows windows = Windows.of(125).completed(400);
    Decision before = windows.give(law, 7);
    Decision after = windows.completed(200).gcShare(0.5).give(law, 1);
    assertEquals(before.limit, after.limit);
  }

  @Test
  void theSameWindowsGiveTheSameDecisions() {
    Case server = Cases.SOMETHING_TO_WIN.get(0);
    List<Decision> once = server.run(law("throughput"), 30, 3).decisions;
    List<Decision> again = server.run(law("throughput"), 30, 3).decisions;
    assertEquals(once.toString(), again.toString());
  }

  @Test
  void withoutTrafficNothingIsTried() {
    Law law = law("throughput");
    Windows windows = Windows.of(125).completed(0).there(0, 0);
    for (int i = 0; i < 1000; i++) {
      assertEquals(Cases.MAX, windows.give(law, 1).limit);
    }
  }

  @Test
  void aLimitIsDroppedWhenRequestsStopComing() {
    Case server = Cases.SOMETHING_TO_WIN.get(0);
    Law law = law("throughput");
    Run run = server.run(law, 30, 7);
    int found = run.decisions.get(run.decisions.size() - 1).limit;
    assertTrue(found < 20, "found " + found);
    Windows quiet = Windows.of(125).completed(0).there(0, 0).limit(found);
    assertEquals(Cases.MAX, quiet.give(law, 1000).limit);
  }

  private static Case named(String name) {
    return Cases.HARD.stream().filter(server -> server.name.equals(name)).findFirst().get();
  }
}
