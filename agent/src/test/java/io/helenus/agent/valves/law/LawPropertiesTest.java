package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.valves.law.SimulatedServer.Load;
import io.helenus.agent.valves.law.SimulatedServer.Run;
import io.helenus.agent.valves.law.SimulatedServer.Server;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

/** Properties that hold for any server. */
class LawPropertiesTest {
  /** A server that follows the universal scalability law, and its load. */
  static final class Any {
    final double mostPerS;
    final double contention;
    final int peak;
    final int clients;
    final double noise;

    Any(double mostPerS, double contention, int peak, int clients, double noise) {
      this.mostPerS = mostPerS;
      this.contention = contention;
      this.peak = peak;
      this.clients = clients;
      this.noise = noise;
    }

    Server server() {
      return Servers.scaling(mostPerS, contention, peak);
    }

    Run run(Law law, int max, double lengthS, Load load) {
      return new SimulatedServer(server(), atS -> load, 1, noise, 1, 5).run(law, max, lengthS);
    }

    @Override
    public String toString() {
      return String.format(
          "%.0f/s at %d, contention %.2f, %d clients, noise %.2f",
          mostPerS, peak, contention, clients, noise);
    }
  }

  @Provide
  Arbitrary<Any> anyServer() {
    return Combinators.combine(
            Arbitraries.doubles().between(500, 4000),
            Arbitraries.doubles().between(0, 0.9),
            Arbitraries.integers().between(2, 128),
            Arbitraries.integers().between(1, 300),
            Arbitraries.doubles().between(0, 0.1))
        .as(Any::new);
  }

  @Property(tries = 12, shrinking = ShrinkingMode.OFF)
  void limitsStayWithinTheirBounds(
      @ForAll @From("anyServer") Any any,
      @ForAll @IntRange(min = 1, max = 40) int min,
      @ForAll @IntRange(min = 0, max = 100) int above,
      @ForAll @DoubleRange(min = 0.2, max = 1.2) double open) {
    int max = min + above;
    for (String name : Laws.NAMES) {
      for (Load load : new Load[] {Load.closed(any.clients), Load.open(open * any.mostPerS)}) {
        Run run = any.run(Laws.of(name, Map.of(), min, max), max, 20, load);
        assertFalse(run.decisions.isEmpty(), name);
        for (Decision decision : run.decisions) {
          assertTrue(decision.limit >= min && decision.limit <= max, name + " said " + decision);
          assertFalse(decision.reason.isEmpty() || decision.reason.contains("NaN"), name);
        }
      }
    }
  }

  @Property(tries = 20, seed = "1", shrinking = ShrinkingMode.OFF)
  void noneOfOursStaysBelowHalfOfTheBest(@ForAll @From("anyServer") Any any) {
    double best = 0;
    for (int n = 1; n <= Math.min(any.clients, 128); n++) {
      best = Math.max(best, any.server().perS(n, 0));
    }
    for (String name : new String[] {"throughput", "response-time"}) {
      Run run = any.run(Laws.of(name, Map.of(), 1, 128), 128, 60, Load.closed(any.clients));
      double did = run.perS(30, 60);
      assertTrue(did > 0.5 * best, name + " did " + did + " of " + best);
    }
  }

  @Property(tries = 200, shrinking = ShrinkingMode.OFF)
  void anyWindowIsTaken(
      @ForAll @IntRange(min = 0, max = 1_000_000) int completed,
      @ForAll @IntRange(min = 0, max = 1000) int failed,
      @ForAll @DoubleRange(min = 0, max = 1e6) double inFlight,
      @ForAll @DoubleRange(min = 0, max = 1e9) double waiting,
      @ForAll @DoubleRange(min = 0, max = 1e5) double insideMs,
      @ForAll @DoubleRange(min = 0, max = 1) double gcShare) {
    for (String name : Laws.NAMES) {
      Law law = Laws.of(name, Map.of(), 2, 64);
      Windows windows = Windows.of(100).limit(64);
      windows.give(law, 20);
      windows
          .completed(completed)
          .failed(failed)
          .there(inFlight, waiting)
          .times(insideMs, insideMs)
          .gcShare(gcShare);
      for (int i = 0; i < 40; i++) {
        int limit = windows.give(law, 1).limit;
        assertEquals(Math.max(2, Math.min(64, limit)), limit, name);
        assertTrue(law.windowNs() > 0 && law.windowNs() <= 10_000_000_000L, name);
      }
    }
  }
}
