package io.helenus.agent.valves.law;

import io.helenus.agent.valves.law.SimulatedServer.Server;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/** Simulated servers to test laws on. */
final class Servers {
  private Servers() {}

  /** Reaches its maximum at a given number inside, and never slows down: no limit is best. */
  static Server saturating(double mostPerS, int from) {
    return (inside, atS) -> mostPerS * Math.min(1, inside / (double) from);
  }

  /**
   * The universal scalability law, X(n) = r n / (1 + s (n-1) + k n (n-1)) (Gunther, Guerrilla
   * Capacity Planning, 2007), with its peak at a given n: k = (1 - s) / peak².
   */
  static Server scaling(double mostPerS, double contention, int peak) {
    double at = scaled(peak, contention, peak);
    return (inside, atS) -> mostPerS * scaled(inside, contention, peak) / at;
  }

  private static double scaled(double n, double contention, double peak) {
    double crosstalk = (1 - contention) / (peak * peak);
    return n / (1 + contention * (n - 1) + crosstalk * n * (n - 1));
  }

  /** Behaves like one server before a given time, and like another one after it. */
  static Server changing(Server before, double atS, Server after) {
    return (inside, nowS) -> nowS < atS ? before.perS(inside, nowS) : after.perS(inside, nowS);
  }

  /** A server without pauses until a given time, while its heap fills. */
  static Server filling(Server server, double untilS) {
    return varying(server, atS -> 1, atS -> atS < untilS ? 0 : 1);
  }

  /** Two peaks: a low one near many inside, a high one near few. */
  static Server twoPeaks(double mostPerS, int high, int low, double lowShare) {
    return (inside, atS) -> mostPerS * Math.max(hump(inside, high), lowShare * hump(inside, low));
  }

  private static double hump(double n, double peak) {
    double off = Math.log(n / peak) / Math.log(2);
    return Math.max(0.02, 1 / (1 + off * off));
  }

  /**
   * As Cassandra did transactions on a few hot partitions (docs/results/valves.md): its throughput
   * with two or three requests inside is a tenth higher than with four to seven. From 8 on it rises
   * with the number inside, up to a given number.
   */
  static Server transacting(int upTo) {
    return (inside, atS) -> {
      if (inside < 8) {
        return inside < 4 ? 2900 * Math.min(1, inside / 2.0) : 2600;
      }
      return 2900 * Math.pow(Math.min(inside, upTo) / 8.0, 0.24);
    };
  }

  /**
   * Like Cassandra with whole wide partitions in a small heap (docs/results/valves.md): a
   * collection every quarter of a second, which takes longer the more of the heap the requests
   * inside hold.
   */
  static Server scanning(double mostPerS) {
    return scanning(mostPerS, 0, 0);
  }

  /**
   * The same, with a heap that takes a given time to empty when fewer requests are inside, and to
   * fill.
   */
  static Server scanning(double mostPerS, double emptiesS, double fillsS) {
    Server server = (inside, atS) -> mostPerS * Math.min(1, inside / 4.0) * (1 - 0.0008 * inside);
    return withPauses(server, 0.05, 0.05, 0.0013, emptiesS, fillsS);
  }

  /**
   * The same, with a heap that now and then needs few collections for some seconds, regardless of
   * the number inside. Without a limit, on one of two CPUs, the share of collections varied between
   * 6 and 20 % (docs/results/valves.md).
   */
  static Server swinging(double mostPerS) {
    Server server = (inside, atS) -> mostPerS * Math.min(1, inside / 4.0) * (1 - 0.0008 * inside);
    return varying(
        withPauses(server, 0.05, 0.03, 0.0011, 1, 1),
        atS -> 0.85 + 0.15 * Math.min(1, atS / 15),
        atS -> new Random((long) (atS / 3) * 7919).nextInt(100) < 35 ? 0.3 : 1.3);
  }

  /**
   * Like the scans, but the throughput with two inside is higher than with three to seven, so the
   * search has to go from four to two. The heap is nearly empty with few inside, and takes long to
   * fill with more.
   */
  static Server scanningFew(double mostPerS) {
    Server server =
        (inside, atS) -> {
          double few = inside < 3 ? 0.85 * inside / 2 : inside < 8 ? 0.7 : 1;
          return mostPerS * few * (1 - 0.0008 * inside);
        };
    return withPauses(server, 0.05, 0.01, 0.0013, 2, 8);
  }

  /**
   * Like the scans, with a heap that is nearly empty with few inside and takes a quarter of a
   * minute to fill with many: until then many inside do more.
   */
  static Server scanningLater(double mostPerS) {
    Server server =
        (inside, atS) -> mostPerS * Math.min(inside / 4.0, Math.min(1, 0.84 + 0.01 * inside));
    return withPauses(server, 0.05, 0.015, 0.0018, 2, 12);
  }

  /**
   * A server that sees a changing share of the present requests when many are inside, half of them
   * on average: on two CPUs the threads that read sockets hardly get CPU time
   * (docs/results/valves.md).
   */
  static Server starving(Server server) {
    return new Like(server) {
      @Override
      public double seen(int inside, double atS) {
        double share = 0.15 + 0.8 * new Random((long) (atS / 0.1) * 7919).nextDouble();
        return inside > 32 ? share : 1;
      }
    };
  }

  /** A server that is paused for a fixed share of the time. */
  static Server pausing(Server server, double share, double lengthS) {
    return withPauses(server, lengthS, share, 0);
  }

  /** A server whose pauses grow with the number inside, because requests hold its heap. */
  static Server withPauses(Server server, double lengthS, double share, double shareEach) {
    return withPauses(server, lengthS, share, shareEach, 0, 0);
  }

  private static Server withPauses(
      Server server,
      double lengthS,
      double share,
      double shareEach,
      double emptiesS,
      double fillsS) {
    return new Server() {
      @Override
      public double perS(int inside, double atS) {
        return server.perS(inside, atS);
      }

      @Override
      public double pauseShare(int inside, double atS) {
        return share + shareEach * inside;
      }

      @Override
      public double pauseS() {
        return lengthS;
      }

      @Override
      public double emptiesS() {
        return emptiesS;
      }

      @Override
      public double fillsS() {
        return fillsS;
      }
    };
  }

  /** A server whose speed alternates whatever the limit is, as on a shared host. */
  static Server drifting(Server server, double share, double periodS) {
    return varying(server, atS -> 1 + share * Math.sin(2 * Math.PI * atS / periodS), atS -> 1);
  }

  /** The same on a shared host: its CPUs are faster and slower for seconds. */
  static Server shared(Server server, double drift) {
    return new Like(server) {
      @Override
      public double drift() {
        return drift;
      }
    };
  }

  /** A server whose speed and share of pauses are multiplied by a function of the time. */
  private static Server varying(
      Server server, DoubleUnaryOperator speed, DoubleUnaryOperator pauses) {
    return new Like(server) {
      @Override
      public double perS(int inside, double atS) {
        return server.perS(inside, atS) * speed.applyAsDouble(atS);
      }

      @Override
      public double pauseShare(int inside, double atS) {
        return server.pauseShare(inside, atS) * pauses.applyAsDouble(atS);
      }
    };
  }

  /** A server that delegates to another one, except for the overridden methods. */
  private abstract static class Like implements Server {
    private final Server other;

    Like(Server other) {
      this.other = other;
    }

    @Override
    public double perS(int inside, double atS) {
      return other.perS(inside, atS);
    }

    @Override
    public double pauseShare(int inside, double atS) {
      return other.pauseShare(inside, atS);
    }

    @Override
    public double pauseS() {
      return other.pauseS();
    }

    @Override
    public double emptiesS() {
      return other.emptiesS();
    }

    @Override
    public double fillsS() {
      return other.fillsS();
    }

    @Override
    public double seen(int inside, double atS) {
      return other.seen(inside, atS);
    }

    @Override
    public double drift() {
      return other.drift();
    }
  }
}
