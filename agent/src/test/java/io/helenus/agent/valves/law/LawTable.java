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
 * All laws on all servers, as a table: {@code java -cp target/classes:target/test-classes
 * io.helenus.agent.valves.law.LawTable [seeds] > target/laws.txt}.
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
    for (String name : List.of("jitter", "vegas", "gradient2", "aimd", "codel")) {
      laws.put(name, Laws.of(name, Map.of(), 1, Cases.MAX));
    }
    return laws;
  }

  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.println(
        "Two minutes each. all: completed, law / none. gain: the share of what the best fixed"
            + " limit gains over none,");
    out.println(
        "that the law gains from 20 s to 60 s, and from 75 s to 120 s; - where there is less than"
            + " 3 % to gain, then law / none.");
    out.println(
        "limit: which held most of the time from 75 s on, and the best fixed one. away: the share"
            + " of that time more than 10 % off it.");
    out.printf(
        "%-18s %-18s %6s %12s %12s %10s %6s %6s%n",
        "server", "law", "all", "gain 20-60", "gain 75-120", "limit", "away", "p99");
    List<Case> cases = new ArrayList<>(Cases.NOTHING_TO_WIN);
    cases.addAll(Cases.SOMETHING_TO_WIN);
    cases.addAll(Cases.HARD);
    cases.addAll(Cases.CHANGING);
    for (Case one : cases) {
      laws().forEach((name, law) -> out.println(row(one, name, one.run(law, LENGTH_S, 7))));
    }
  }

  private static String row(Case one, String law, Run run) {
    Run none = one.none();
    int limit = run.usualLimit(SETTLED_S, LENGTH_S);
    return String.format(
        "%-18s %-18s %6.3f %12s %12s %4d (%3d) %6.2f %6.2f",
        one.name,
        law,
        run.perS(0, LENGTH_S) / none.perS(0, LENGTH_S),
        gain(one, run, LEARNED_S, 60),
        gain(one, run, SETTLED_S, LENGTH_S),
        limit,
        one.bestLimit(SETTLED_S, LENGTH_S),
        run.awayShare(limit, SETTLED_S, LENGTH_S),
        run.latencies.percentile(99) / (double) none.latencies.percentile(99));
  }

  private static String gain(Case one, Run run, double fromS, double toS) {
    double none = one.none().perS(fromS, toS);
    double gain = one.bestPerS(fromS, toS) - none;
    double won = run.perS(fromS, toS) - none;
    return gain > 0.03 * none
        ? String.format("%.0f %%", 100 * won / gain)
        : String.format("- %.3f", 1 + won / none);
  }
}
