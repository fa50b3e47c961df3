package io.helenus.agent.valves.law;

import io.helenus.agent.valves.law.Cases.Case;
import io.helenus.agent.valves.law.SimulatedServer.Run;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All laws on all servers, as a table of means over runs: {@code java -cp
 * target/classes:target/test-classes io.helenus.agent.valves.law.LawTable [RUNS] [SERVERS] >
 * target/laws.txt}, for servers whose names match. One run takes half a minute for all servers;
 * servers with much noise need more runs.
 */
final class LawTable {
  private static final double LENGTH_S = 120;
  private static final double LEARNED_S = 20;
  private static final double SETTLED_S = 75;

  private LawTable() {}

  static Map<String, Law> laws() {
    Map<String, Law> laws = new LinkedHashMap<>();
    laws.put("throughput", Laws.of("throughput", Map.of(), 1, Cases.MAX));
    laws.put("response-time", Laws.of("response-time", Map.of(), 1, Cases.MAX));
    Map<String, String> p99 = Map.of("percentile", "99");
    laws.put("response-time p99", Laws.of("response-time", p99, 1, Cases.MAX));
    laws.put("gradient2", Laws.of("gradient2", Map.of(), 1, Cases.MAX));
    return laws;
  }

  public static void main(String[] arguments) {
    int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
    String servers = arguments.length > 1 ? arguments[1] : ".*";
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.println("Two minutes each. all: completed, law / none; surge: the same from 8 s to 33 s.");
    out.println("gain: the share of what the best fixed limit gains over none,");
    out.println(
        "that the law gains from 20 s to 60 s, and from 75 s to 120 s; - where there is less than"
            + " 3 % to gain, then law / none.");
    out.println(
        "limit: which held most of the time from 75 s on, in the first run, and the best fixed one."
            + " away: the share of that time more than 10 % off it.");
    out.printf(
        "%-18s %-18s %6s %6s %12s %12s %10s %6s %6s%n",
        "server", "law", "all", "surge", "gain 20-60", "gain 75-120", "limit", "away", "p99");
    List<Case> cases = new ArrayList<>(Cases.NOTHING_TO_WIN);
    cases.add(Cases.VERY_NOISY);
    cases.add(Cases.TRANSACTIONS);
    cases.add(Cases.TRANSACTIONS_JOINING);
    cases.addAll(Cases.SOMETHING_TO_WIN);
    cases.addAll(Cases.HARD);
    cases.addAll(Cases.CHANGING);
    for (Case one : cases) {
      if (one.name.matches(servers)) {
        laws().keySet().forEach(law -> out.println(row(one, law, runs)));
      }
    }
  }

  private static String row(Case one, String law, int runs) {
    List<Run> none = new ArrayList<>();
    List<Run> of = new ArrayList<>();
    double away = 0;
    double p99 = 0;
    for (int seed = 1; seed <= runs; seed++) {
      Run run = one.run(laws().get(law), LENGTH_S, seed);
      Run without = one.fixed(Cases.MAX, seed);
      of.add(run);
      none.add(without);
      away += run.awayShare(run.usualLimit(SETTLED_S, LENGTH_S), SETTLED_S, LENGTH_S) / runs;
      p99 += run.latencies.percentile(99) / (double) without.latencies.percentile(99) / runs;
    }
    return String.format(
        "%-18s %-18s %6.3f %6.3f %12s %12s %4d (%3d) %6.2f %6.2f",
        one.name,
        law,
        perS(of, 0, LENGTH_S) / perS(none, 0, LENGTH_S),
        perS(of, Cases.JOIN_S, Cases.SURGED_S) / perS(none, Cases.JOIN_S, Cases.SURGED_S),
        gain(one, of, none, LEARNED_S, 60),
        gain(one, of, none, SETTLED_S, LENGTH_S),
        of.get(0).usualLimit(SETTLED_S, LENGTH_S),
        one.bestLimit(SETTLED_S, LENGTH_S),
        away,
        p99);
  }

  private static String gain(Case one, List<Run> of, List<Run> none, double fromS, double toS) {
    List<Run> best = new ArrayList<>();
    for (int seed = 1; seed <= of.size(); seed++) {
      best.add(one.fixed(one.bestLimit(fromS, toS), seed));
    }
    double without = perS(none, fromS, toS);
    double gain = perS(best, fromS, toS) - without;
    double won = perS(of, fromS, toS) - without;
    return gain > 0.03 * without
        ? String.format("%.0f %%", 100 * won / gain)
        : String.format("- %.3f", 1 + won / without);
  }

  private static double perS(List<Run> runs, double fromS, double toS) {
    return runs.stream().mapToDouble(run -> run.perS(fromS, toS)).average().orElse(0);
  }
}
