package io.helenus.agent.valves.law;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A server with a valve before it, as a discrete-event simulation: processor sharing, whose whole
 * speed depends on how many are inside, with noise and pauses, under closed or open load.
 *
 * <p>Each request brings an amount of work (log-normal, mean 1). With n inside, all together get
 * {@link Server#perS} units of work per second, evenly shared. Requests that find no room wait
 * first in, first out. The same seed gives the same run.
 */
final class SimulatedServer {
  /** The speed of a server, and its pauses; both may change with time. */
  interface Server {
    /** Work per second with n inside, n at least 1, at a time of the run. */
    double perS(int inside, double atS);

    /** The share of time in pauses, by the number inside. */
    default double pauseShare(int inside, double atS) {
      return 0;
    }

    /**
     * How long the heap takes to empty, in s, when fewer requests are inside; the share of pauses
     * follows that slowly.
     */
    default double emptiesS() {
      return 0;
    }

    /** How long the heap takes to fill with more requests inside, in s. */
    default double fillsS() {
      return emptiesS();
    }

    /**
     * The share of present requests that the server sees: the rest waits in sockets whose threads
     * get no CPU.
     */
    default double seen(int inside, double atS) {
      return 1;
    }

    /** The standard deviation, as a share, of the CPUs' speed, which changes every few seconds. */
    default double drift() {
      return 0;
    }

    /** The mean length of a pause, s; its lengths are within half and one and a half of it. */
    default double pauseS() {
      return 0;
    }
  }

  /** The load: a number of clients that wait for their answers, or a fixed rate. */
  static final class Load {
    final int clients;
    final double thinkS;
    final double arrivalsPerS;

    private Load(int clients, double thinkS, double arrivalsPerS) {
      this.clients = clients;
      this.thinkS = thinkS;
      this.arrivalsPerS = arrivalsPerS;
    }

    static Load closed(int clients) {
      return new Load(clients, 0, 0);
    }

    static Load closed(int clients, double thinkS) {
      return new Load(clients, thinkS, 0);
    }

    static Load open(double arrivalsPerS) {
      return new Load(0, 0, arrivalsPerS);
    }
  }

  /** The load at a time of the run. */
  interface Loads {
    Load at(double atS);
  }

  /** A limit, and how long it was in effect. */
  static final class Held {
    final double fromS;
    final double toS;
    final int limit;
    final long completed;
    final String reason;

    Held(Window window, String reason) {
      this.fromS = window.startNs / 1e9;
      this.toS = window.endNs / 1e9;
      this.limit = window.limit;
      this.completed = window.completed;
      this.reason = reason;
    }
  }

  /** The results of a run. */
  static final class Run {
    final List<Held> held = new ArrayList<>();
    final List<Decision> decisions = new ArrayList<>();
    final Latencies latencies = new Latencies();
    private final List<Latencies> seconds = new ArrayList<>();

    double perS(double fromS, double toS) {
      double completed = 0;
      for (Held window : held) {
        double lengthS = Math.max(1e-9, window.toS - window.fromS);
        double share = overlapS(window, fromS, toS) / lengthS;
        completed += share * window.completed;
      }
      return completed / (toS - fromS);
    }

    /** The limit that was in effect longest within a stretch. */
    int usualLimit(double fromS, double toS) {
      double[] heldS = new double[4097];
      int usual = 0;
      for (Held window : held) {
        heldS[window.limit] += overlapS(window, fromS, toS);
        usual = heldS[window.limit] > heldS[usual] ? window.limit : usual;
      }
      return usual;
    }

    /** The share of a stretch in which the limit differed by more than a tenth from a given one. */
    double awayShare(int limit, double fromS, double toS) {
      double awayS = 0;
      for (Held window : held) {
        if (Math.abs(window.limit - limit) > Math.max(1, 0.1 * limit)) {
          awayS += overlapS(window, fromS, toS);
        }
      }
      return awayS / (toS - fromS);
    }

    Latencies latencies(int fromS, int toS) {
      Latencies merged = new Latencies();
      for (int s = fromS; s < Math.min(toS, seconds.size()); s++) {
        merged.add(seconds.get(s));
      }
      return merged;
    }

    private static double overlapS(Held window, double fromS, double toS) {
      return Math.max(0, Math.min(toS, window.toS) - Math.max(fromS, window.fromS));
    }

    private void left(double atS, long ns) {
      latencies.record(ns);
      while (seconds.size() <= (int) atS) {
        seconds.add(new Latencies());
      }
      seconds.get((int) atS).record(ns);
    }
  }

  private static final class Request {
    double arrivedS;
    double enteredS;
    double endsAtWork;
  }

  private static final double NEVER = Double.POSITIVE_INFINITY;
  private static final double NOISE_STEP_S = 0.02;

  /** How long the CPUs keep a speed, in s. */
  private static final double DRIFTS_S = 4;

  private final Server server;
  private final Loads loads;
  private final double workCv;
  private final double noise;
  private final double noiseS;
  private final Random random;

  /**
   * A random generator of its own, so that runs under different laws have the same noise at the
   * same time.
   */
  private final Random weather;

  /** The random generator of the CPUs' speed. */
  private final Random host;

  private final PriorityQueue<Request> inside =
      new PriorityQueue<>((a, b) -> Double.compare(a.endsAtWork, b.endsAtWork));
  private final ArrayDeque<Request> gate = new ArrayDeque<>();
  private final PriorityQueue<Double> thinking = new PriorityQueue<>();
  private double nowS;
  private double work;
  private double noiseLevel;
  private double driftLevel;

  /** The fill level of the heap, as a number of requests inside. */
  private double inHeap;

  private double pauseEndsS;
  private double nextPauseS = NEVER;
  private double pauseLengthS;
  private double nextArrivalS;
  private int clients;

  private long completed;
  private double insideSum;
  private double waitingSum;
  private double pausedS;
  private long totalNs;
  private long waitNs;
  private long maxNs;
  private Latencies latencies = new Latencies();
  private boolean limited;

  /**
   * @param workCv the coefficient of variation of the requests' work
   * @param noise the standard deviation of the server's speed, as a share
   * @param noiseS how long a deviation lasts, s
   */
  SimulatedServer(
      Server server, Loads loads, double workCv, double noise, double noiseS, long seed) {
    this.server = server;
    this.loads = loads;
    this.workCv = workCv;
    this.noise = noise;
    this.noiseS = noiseS;
    this.random = new Random(seed);
    this.weather = new Random(~seed);
    this.host = new Random(31 * seed + 5);
  }

  /** Lets a law control the server from its start; until its first decision the limit is max. */
  Run run(Law law, int max, double lengthS) {
    Run run = new Run();
    int limit = max;
    double windowStartS = 0;
    double windowEndS = law.windowNs() / 1e9;
    double nextNoiseS = 0;
    nextArrivalS = 0;
    while (nowS < lengthS) {
      Load load = loads.at(nowS);
      bring(load);
      enter(limit);
      double speed = speed();
      double departureS = speed > 0 ? nowS + (inside.peek().endsAtWork - work) / speed : NEVER;
      double thoughtS = thinking.isEmpty() ? NEVER : thinking.peek();
      double arrivalS = load.arrivalsPerS > 0 ? nextArrivalS : NEVER;
      double pauseS = pauseEndsS > nowS ? pauseEndsS : nextPauseS;
      windowEndS = Math.min(windowEndS, lengthS);
      double eventS = Math.min(Math.min(departureS, thoughtS), Math.min(arrivalS, pauseS));
      double toS = Math.min(eventS, Math.min(windowEndS, nextNoiseS));
      pass(toS, speed);
      if (toS == windowEndS) {
        Window window = window(windowStartS, windowEndS, limit);
        Decision decision = law.next(window);
        run.held.add(new Held(window, decision.reason));
        run.decisions.add(decision);
        limit = decision.limit;
        windowStartS = windowEndS;
        windowEndS = windowStartS + law.windowNs() / 1e9;
      } else if (toS == nextNoiseS) {
        nextNoiseS += NOISE_STEP_S;
        double keep = Math.exp(-NOISE_STEP_S / noiseS);
        noiseLevel =
            keep * noiseLevel + Math.sqrt(1 - keep * keep) * noise * weather.nextGaussian();
        double lasts = Math.exp(-NOISE_STEP_S / DRIFTS_S);
        double drifts = Math.sqrt(1 - lasts * lasts) * server.drift();
        driftLevel = lasts * driftLevel + drifts * host.nextGaussian();
        planPause();
      } else if (toS == departureS) {
        leave(inside.poll(), load, run);
      } else if (toS == thoughtS) {
        thinking.poll();
        arrive();
      } else if (toS == arrivalS) {
        arrive();
        nextArrivalS = nowS - Math.log(1 - random.nextDouble()) / load.arrivalsPerS;
      } else if (pauseEndsS <= nowS && toS == nextPauseS) {
        pauseEndsS = nowS + pauseLengthS;
        nextPauseS = NEVER;
      }
    }
    return run;
  }

  /** Clients join and leave with the load; a client leaves after its answer. */
  private void bring(Load load) {
    if (load.arrivalsPerS > 0 && nextArrivalS < nowS) {
      nextArrivalS = nowS;
    }
    while (clients < load.clients) {
      clients++;
      arrive();
    }
  }

  private void arrive() {
    Request request = new Request();
    request.arrivedS = nowS;
    gate.add(request);
  }

  private void enter(int limit) {
    while (!gate.isEmpty() && inside.size() < limit) {
      Request request = gate.poll();
      request.enteredS = nowS;
      request.endsAtWork = work + amount();
      inside.add(request);
    }
    limited |= !gate.isEmpty();
  }

  private double amount() {
    double variance = Math.log(1 + workCv * workCv);
    return Math.exp(random.nextGaussian() * Math.sqrt(variance) - variance / 2);
  }

  /** The work per second that each request inside gets. */
  private double speed() {
    if (inside.isEmpty() || pauseEndsS > nowS) {
      return 0;
    }
    double perS = server.perS(inside.size(), nowS);
    return perS * Math.exp(noiseLevel + driftLevel) / inside.size();
  }

  private void pass(double toS, double speed) {
    double lengthS = toS - nowS;
    double seen = server.seen(inside.size(), nowS);
    insideSum += inside.size() * seen * lengthS;
    waitingSum += gate.size() * seen * lengthS;
    if (pauseEndsS > nowS) {
      pausedS += Math.min(toS, pauseEndsS) - nowS;
    }
    work += speed * lengthS;
    double heapS = inside.size() > inHeap ? server.fillsS() : server.emptiesS();
    double follows = heapS > 0 ? -Math.expm1(-lengthS / heapS) : 1;
    inHeap += (inside.size() - inHeap) * follows;
    nowS = toS;
  }

  private void leave(Request request, Load load, Run run) {
    completed++;
    long insideNs = Math.round((nowS - request.enteredS) * 1e9);
    long waitedNs = Math.round((request.enteredS - request.arrivedS) * 1e9);
    totalNs += insideNs;
    waitNs += waitedNs;
    maxNs = Math.max(maxNs, insideNs + waitedNs);
    latencies.record(insideNs + waitedNs);
    run.left(nowS, insideNs + waitedNs);
    if (clients > load.clients) {
      clients--;
    } else if (load.thinkS > 0) {
      thinking.add(nowS - Math.log(1 - random.nextDouble()) * load.thinkS);
    } else if (load.clients > 0) {
      arrive();
    }
  }

  private void planPause() {
    double chance = weather.nextDouble();
    double length = 0.5 + weather.nextDouble();
    if (pauseEndsS <= nowS && nextPauseS == NEVER && server.pauseS() > 0) {
      pauseLengthS = server.pauseS() * length;
      double share = Math.min(0.9, server.pauseShare((int) Math.round(inHeap), nowS));
      double perS = share / (1 - share) / server.pauseS();
      double inS = -Math.log(1 - chance) / perS;
      if (inS < NOISE_STEP_S) {
        nextPauseS = nowS + inS;
      }
    }
  }

  private Window window(double startS, double endS, int limit) {
    double lengthS = endS - startS;
    Window window =
        Window.between(Math.round(startS * 1e9), Math.round(endS * 1e9), limit)
            .counts(completed, 0, 0)
            .occupancy(insideSum / lengthS, waitingSum / lengthS, limited)
            .times(totalNs, waitNs, maxNs, latencies)
            .gcShare(Math.min(1, pausedS / lengthS))
            .build();
    completed = 0;
    insideSum = 0;
    waitingSum = 0;
    totalNs = 0;
    waitNs = 0;
    maxNs = 0;
    latencies = new Latencies();
    limited = false;
    pausedS = 0;
    return window;
  }
}
