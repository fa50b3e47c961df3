package io.helenus.agent.valves.law;

import io.helenus.agent.valves.law.SimulatedServer.Load;
import io.helenus.agent.valves.law.SimulatedServer.Loads;
import io.helenus.agent.valves.law.SimulatedServer.Run;
import io.helenus.agent.valves.law.SimulatedServer.Server;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Simulated servers with their loads, on which laws are compared, and the results of fixed limits.
 */
final class Cases {
  static final int MAX = 128;

  /** The time at which changing servers change, in s. */
  static final double CHANGE_S = 60;

  /** The time at which a surge begins, in s; until then there are only a few clients. */
  static final double JOIN_S = 8;

  /** The time after which the cost of a surge no longer shows. */
  static final double SURGED_S = JOIN_S + 25;

  private static final int[] SWEEP = {MAX, 64, 32, 16, 11, 8, 5};
  private static final Loads CLIENTS = atS -> Load.closed(200);
  private static final Map<String, Run> RUNS = new ConcurrentHashMap<>();

  /** One server under one load. */
  static final class Case {
    final String name;
    private final Server server;
    private final Loads loads;
    private final double workCv;
    private final double noise;

    private Case(String name, Server server, Loads loads, double workCv, double noise) {
      this.name = name;
      this.server = server;
      this.loads = loads;
      this.workCv = workCv;
      this.noise = noise;
    }

    Run run(Law law, double lengthS, long seed) {
      return new SimulatedServer(server, loads, workCv, noise, 1, seed).run(law, MAX, lengthS);
    }

    /** Two minutes at a fixed limit. */
    Run fixed(int limit, long seed) {
      return RUNS.computeIfAbsent(
          name + " " + limit + " " + seed,
          unknown -> {
            Map<String, String> parameters = Map.of("limit", Integer.toString(limit));
            return run(Laws.of("fixed", parameters, 1, MAX), 120, seed);
          });
    }

    /** Runs a fixed limit with the seed of the tests. */
    Run fixed(int limit) {
      return fixed(limit, 7);
    }

    /** The server's results without a limit. */
    Run none() {
      return fixed(MAX);
    }

    /**
     * The fixed limit with the most completed requests in a stretch; of equal limits, the largest.
     */
    int bestLimit(double fromS, double toS) {
      int best = MAX;
      for (int limit : SWEEP) {
        best = fixed(limit).perS(fromS, toS) > 1.005 * fixed(best).perS(fromS, toS) ? limit : best;
      }
      return best;
    }

    double bestPerS(double fromS, double toS) {
      return fixed(bestLimit(fromS, toS)).perS(fromS, toS);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** No limit is best, so there is nothing to gain. */
  static final List<Case> NOTHING_TO_WIN =
      List.of(
          new Case("flat", Servers.saturating(4000, 8), CLIENTS, 1, 0.05),
          new Case("linear", Servers.saturating(4000, MAX), CLIENTS, 1, 0.05),
          new Case("linear, slow", Servers.saturating(200, MAX), CLIENTS, 1, 0.05),
          new Case("flat, noisy", Servers.saturating(3000, 8), CLIENTS, 1, 0.12),
          new Case(
              "flat, pauses",
              Servers.pausing(Servers.saturating(3000, 8), 0.05, 0.1),
              CLIENTS,
              1,
              0.05),
          new Case(
              "flat, shared", Servers.shared(Servers.saturating(3000, 8), 0.2), CLIENTS, 1, 0.05),
          new Case(
              "open, shared",
              Servers.shared(Servers.saturating(4000, 16), 0.2),
              open(2000),
              1,
              0.05),
          new Case("open, flat", Servers.saturating(4000, 16), open(2000), 1, 0.05),
          new Case("open, knee", Servers.scaling(3000, 0.05, 8), open(1500), 1, 0.05));

  /** Fluctuates as much as a node on a shared machine may under scans. */
  static final Case VERY_NOISY =
      new Case("flat, very noisy", Servers.saturating(900, 4), CLIENTS, 0.5, 0.2);

  /**
   * The limit that is best for the few clients at first halves the throughput for the many later.
   */
  static final Case TRANSACTIONS =
      new Case(
          "transactions",
          Servers.transacting(MAX),
          atS -> Load.closed(atS < JOIN_S ? 4 : 200),
          1,
          0.05);

  /**
   * As in the study of transactions, where half of the concurrency does nearly as well as all of
   * it.
   */
  static final Case TRANSACTIONS_JOINING =
      new Case("transactions, more", Servers.transacting(64), atS -> joining(atS, 40, 20), 1, 0.08);

  /** With these servers a limit does better than no limit. */
  static final List<Case> SOMETHING_TO_WIN =
      List.of(
          new Case("knee 8", Servers.scaling(3000, 0.05, 8), CLIENTS, 1, 0.05),
          new Case("knee 8, mild", Servers.scaling(3000, 0.8, 8), CLIENTS, 1, 0.05),
          new Case("knee 32", Servers.scaling(3000, 0.02, 32), CLIENTS, 1, 0.05),
          new Case("knee 64", Servers.scaling(3000, 0.02, 64), CLIENTS, 1, 0.05),
          new Case("knee 16, noisy", Servers.scaling(3000, 0.05, 16), CLIENTS, 1, 0.12),
          new Case(
              "knee 12, pauses",
              Servers.pausing(Servers.scaling(3000, 0.05, 12), 0.03, 0.15),
              CLIENTS,
              1,
              0.05),
          new Case(
              "knee 12, thinking",
              Servers.scaling(3000, 0.05, 12),
              atS -> Load.closed(200, 0.02),
              1,
              0.05),
          new Case("open, too much", Servers.scaling(3000, 0.05, 8), open(2700), 1, 0.05));

  /** Like the cases before, but so slow, uneven or misleading that the search takes longer. */
  static final List<Case> HARD =
      List.of(
          new Case("knee 4, slow", Servers.scaling(300, 0.8, 4), CLIENTS, 0.7, 0.05),
          new Case("knee 6, slower", Servers.scaling(250, 0.05, 6), CLIENTS, 0.5, 0.08),
          new Case("knee 16, faint", Servers.scaling(3000, 0.8, 16), CLIENTS, 1, 0.1),
          new Case(
              "heap",
              Servers.withPauses(Servers.saturating(3000, 6), 0.08, 0.02, 0.004),
              CLIENTS,
              1,
              0.05),
          new Case("scans", Servers.scanning(750), CLIENTS, 0.3, 0.08),
          new Case(
              "scans, more",
              Servers.scanning(900),
              atS -> Load.closed(atS < 30 ? 60 : 200),
              0.3,
              0.15),
          new Case("scans, filling", Servers.filling(Servers.scanning(900), 5), CLIENTS, 0.3, 0.08),
          new Case("scans, swinging", Servers.swinging(1100), CLIENTS, 0.3, 0.08),
          new Case("scans, heap", Servers.scanning(900, 2, 2), CLIENTS, 0.3, 0.12),
          new Case("scans, refilling", Servers.scanning(900, 2, 8), CLIENTS, 0.3, 0.12),
          new Case(
              "scans, unseen",
              Servers.starving(Servers.scanning(1150, 2, 8)),
              atS -> Load.closed(atS < JOIN_S ? 4 : 200),
              0.3,
              0.15),
          new Case(
              "scans, found for few",
              Servers.starving(Servers.scanningFew(1050)),
              atS -> Load.closed(atS < JOIN_S ? 4 : 200),
              0.3,
              0.15),
          new Case(
              "scans, drifting",
              Servers.drifting(Servers.scanning(900), 0.2, 13),
              CLIENTS,
              0.3,
              0.1),
          shared("scans, shared", Servers.scanning(1150, 2, 8)),
          shared("scans, shared, later", Servers.scanningLater(1100)),
          new Case("scans, joining", Servers.scanning(900), atS -> joining(atS, 16, 40), 0.3, 0.15),
          new Case(
              "scans, study", Servers.scanning(900, 2, 2), atS -> joining(atS, 16, 40), 0.3, 0.15),
          new Case("two peaks", Servers.twoPeaks(3000, 6, 110, 0.6), CLIENTS, 1, 0.05),
          new Case(
              "surge",
              Servers.scaling(3000, 0.03, 24),
              atS -> Load.closed(20 * (1 + (int) (atS / 15))),
              1,
              0.05));

  /** After a minute the server has other properties. */
  static final List<Case> CHANGING =
      List.of(
          changing("knee 32 to 8", Servers.scaling(3000, 0.02, 32), Servers.scaling(3000, 0.05, 8)),
          changing("knee 8 to 64", Servers.scaling(3000, 0.05, 8), Servers.scaling(3000, 0.02, 64)),
          changing("knee 8 to flat", Servers.scaling(3000, 0.05, 8), Servers.saturating(3000, 64)));

  private Cases() {}

  /** Scans on CPUs whose speed varies by half from second to second. */
  private static Case shared(String name, Server server) {
    return new Case(
        name,
        Servers.shared(Servers.starving(server), 0.2),
        atS -> Load.closed(atS < JOIN_S ? 4 : 200),
        0.3,
        0.08);
  }

  private static Case changing(String name, Server before, Server after) {
    return new Case(name, Servers.changing(before, CHANGE_S, after), CLIENTS, 1, 0.05);
  }

  /** As in the studies: some clients warm the server up, then as many more join each second. */
  private static Load joining(double atS, int first, int more) {
    return Load.closed(atS < JOIN_S ? first : Math.min(200, more * (int) (atS - JOIN_S + 1)));
  }

  private static Loads open(double arrivalsPerS) {
    return atS -> Load.open(arrivalsPerS);
  }
}
