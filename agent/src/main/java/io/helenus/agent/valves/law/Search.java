package io.helenus.agent.valves.law;

/**
 * Looks for the limit at which an objective is best, and stays where it is unless another limit is
 * shown to be better.
 *
 * <p>One limit holds (home, in the code). A {@link Route} names another, a {@link Trial} measures
 * it against the one that holds, and only a limit that is better beyond doubt replaces it; a limit
 * that binds and cannot be told from no limit is dropped. Trials are paid from a {@link Budget}.
 * When there is nothing left to try, the search rests and explores ever more rarely; a {@link
 * Shift} of the workload restarts the search.
 */
final class Search implements Law {
  private enum Step {
    LEARN,
    SETTLE,
    MEASURE,
    RETURN,
    COMPARE,
    REST
  }

  private static final Objective THROUGHPUT = new Throughput();

  /** A limit is compared with what is no older than this. */
  private static final long FRESH_NS = 12_000_000_000L;

  /** Before the first trial there are to be that many windows, and for that long. */
  private static final int LEARN_WINDOWS = 4;

  private static final long LEARN_NS = 1_000_000_000;

  /** For that long where it is so uneven that a stretch shows no less than this, a logarithm. */
  private static final long LEARN_UNEVEN_NS = 2_500_000_000L;

  private static final double UNEVEN = 0.3;

  /**
   * Time after which a search that has found a limit ends, ns. The remaining limits are explored
   * later: one trial at a time, and rarely.
   */
  private static final long SEARCHES_NS = 12_000_000_000L;

  /** One that has found none is given a little longer. */
  private static final long FINDS_NONE_NS = 15_000_000_000L;

  private static final String COSTS = "trying has cost enough";

  private final Objective objective;
  private final int max;
  private final Route route;
  private final Budget budget = new Budget();
  private final Trust trust = new Trust();
  private final Shift shift = new Shift();
  private final Settling settling = new Settling();
  private final Heap heap = new Heap();
  private final CpuDrift drift = new CpuDrift();
  private final Pace pace = new Pace();
  private final Rest rest = new Rest();
  private final PileUp pileUp = new PileUp();
  private final Crowd crowd;
  private History history = new History();
  private History tried = new History();

  private Step step = Step.LEARN;
  private int home;
  private int limit;
  private Trial trial;
  private Trial pending;

  /** The trial as measured while the heap still fills. */
  private Trial beforehand;

  /** More come than are served: then how many are served is all that counts. */
  private boolean piling;

  /** The limit with the most throughput is being looked for, for an objective that needs it. */
  private boolean climbing;

  private long nowNs;
  private long searchedNs;
  private int learned;

  /**
   * The limit that holds was found for fewer, or on an emptier heap: what it does now is known well
   * enough to ask.
   */
  private boolean questioned;

  /** The trial began before the search had to end. */
  private boolean hurried;

  /**
   * The completions per second that trials one after the other were compared with, until the limit
   * that holds has been measured again; 0 for none.
   */
  private double comparedWith;

  /** By how much the best throughput of what was tried is above that of home, as a logarithm. */
  private double forgone;

  private String reason = "measuring what it does without a limit";

  /** Reads {@code gain}. */
  Search(Objective objective, Parameters given, int min, int max) {
    this.objective = objective;
    this.climbing = objective.throughputFirst();
    this.max = max;
    this.crowd = new Crowd(max);
    this.home = max;
    this.limit = max;
    double worth = Math.log1p(given.number("gain", 0.03, 0.005, 0.5));
    this.route = new Route(min, max, worth);
  }

  @Override
  public long windowNs() {
    return step == Step.SETTLE || step == Step.RETURN ? pace.windowNs() / 2 : pace.windowNs();
  }

  @Override
  public Decision next(Window window) {
    nowNs = window.endNs;
    searchedNs += window.lengthNs();
    heap.add(window);
    budget.pass(window.lengthNs() / 1e9, home < max ? route.gain() : 0);
    if (window.limit == limit) {
      boolean suffices = pace.suffices(window, goal().perWindow(), limit == home);
      if (step == Step.SETTLE || step == Step.RETURN) {
        settle(window);
      } else if (!suffices) {
        starve(window);
      } else if (trust.counts(window)) {
        take(window, score(window));
      }
    }
    return new Decision(limit, reason);
  }

  /** Too few left to say anything; on trial that says enough. */
  private void starve(Window window) {
    if (step == Step.MEASURE && window.gcShare < 0.5) {
      trial.hurt("hardly any complete");
      judge();
    } else if (pace.forgotten() && (home < max || history.count() > 0)) {
      begin(max, "too few requests to learn from: no limit", 0);
    }
  }

  /** A window in which the limit's change still shows. */
  private void settle(Window window) {
    pay(window);
    boolean trying = step == Step.SETTLE;
    if (trying && overrun(window)) {
      piledUp(window);
      judge();
    } else if (trying && budget.exhausted()) {
      trial.hurt(COSTS);
      judge();
    } else if (!trying && pileUp.stays(window, overrun(window))) {
      moreAreThere(window);
    } else if (settling.over(window, goal().lagNs(window), !trying && overrun(window))) {
      if (!trying && limit < home && heap.remembersNs(true) > 0) {
        letAllIn();
      } else if (trying && fillsOnTrial()) {
        whileItFills(window);
      } else if (trying || !refills(window)) {
        arrive(window);
      }
    }
  }

  /** If there is time, a trial of a higher limit lasts until the heap is full. */
  private boolean fillsOnTrial() {
    return trial.hasTime() && limit > home && heap.isFilling(Heap.BEGINS_NS, Heap.SLOW_NS);
  }

  /** With an empty heap more may only seem better, but what is worse will not become better. */
  private void whileItFills(Window window) {
    double score = score(window);
    if (!trust.counts(window) || !Double.isFinite(score)) {
      return;
    }
    beforehand.add(score, rate(window), window);
    if (beforehand.verdict(least()) == Trial.Verdict.WORSE) {
      trial = beforehand;
      judge();
    }
  }

  /** Where few at once are as good, nothing is better before it is full; trials would empty it. */
  private boolean fillsFirst() {
    return home == max && route.fewAreAsGood() && heap.isFilling(Heap.SOON_NS, Heap.SOON_NS);
  }

  private boolean refills(Window window) {
    return heap.refills(history.paused().mean(), settling.sinceNs(window));
  }

  /** A heap fills with all that may be inside; clients that wait for their answers always wait. */
  private void letAllIn() {
    limit = home;
    settling.begin(nowNs, heap.remembersNs(true));
  }

  private void arrive(Window window) {
    if (step == Step.SETTLE) {
      step = Step.MEASURE;
      return;
    }
    limit = home;
    rest.comeBack(nowNs, trial == null);
    if (pileUp.suspected() > 0 && overrun(window) && !pileUp.isOver(window)) {
      moreAreThere(window);
      return;
    }
    if (pileUp.suspected() > 0) {
      route.piledUp(pileUp.suspected());
      pileUp.clear();
    }
    budget.settle();
    step = trial == null ? Step.LEARN : Step.COMPARE;
  }

  /** The limit did not cause the pile-up. */
  private void moreAreThere(Window window) {
    budget.forgive();
    question("more are there", window, 0);
  }

  /** Charges the budget for a window away from the limit that holds. */
  private void pay(Window window) {
    double loss = 1 - rate(window) / Math.max(1e-9, rate());
    pileUp.pass(window, history.figures(Window::completedPerS).mean());
    budget.spend(Math.max(-1, Math.min(1, loss)), window.lengthNs() / 1e9);
  }

  private Objective goal() {
    return piling || climbing ? THROUGHPUT : objective;
  }

  /** How good a window was, for the speed that the CPUs had. */
  private double score(Window window) {
    return goal().score(window) / drift.pace(window);
  }

  /** How many completed per second in it, for the speed that the CPUs had. */
  private double rate(Window window) {
    return window.completedPerS() / drift.pace(window);
  }

  /** The same at the limit that holds. */
  private double rate() {
    return history.figures(this::rate).mean();
  }

  private void take(Window window, double score) {
    if (!Double.isFinite(score)) {
      return;
    }
    drift.add(window);
    if (step == Step.MEASURE) {
      pay(window);
      measure(window, score);
    } else {
      atHome(window, score);
    }
  }

  /** A window at the limit that holds. */
  private void atHome(Window window, double score) {
    history.add(window);
    String shifted = shift.add(window, drift.pace(window), history.inflation(this::score));
    // Back from a trial, it may be the heap's filling again that shows.
    boolean refills = step == Step.COMPARE && heap.collects();
    if (shifted != null && !refills) {
      if (home == max && heap.collects()) {
        // It may be a heap that has filled, and what it cost to learn was of an empty one.
        budget.renew();
      }
      afresh(shifted, window, 0);
    } else if (crowd.hasMultiplied(history)) {
      question("many more are there", window, Crowd.NOTICED);
    } else if (!refills && home == max && hasFilled()) {
      budget.renew();
      afresh("its heap has filled", window, Heap.NOTICED);
      questioned = true;
    } else if (step == Step.COMPARE) {
      compared(0);
      trial.addHome(score, rate(window), window);
      if (trial.homeStretchDone()) {
        judgeFromHome();
      }
    } else if (step == Step.LEARN) {
      learn();
    } else if (rest.isOver(nowNs)) {
      proceed();
    }
  }

  private boolean hasFilled() {
    return heap.hasFilled(history.figures(Heap.NOTICED, w -> w.gcShare));
  }

  /** Judges the trial if the windows before and after it are enough. */
  private void judgeFromHome() {
    if (trial.isLikelyAfter(least())) {
      remember();
      move(false);
      change(Step.RETURN, home, reason);
    } else {
      trial.nextStretch();
      goOn();
    }
  }

  /** Whether trials follow one another: for some seconds. */
  private boolean hurries() {
    return searchedNs < (home == max ? FINDS_NONE_NS : SEARCHES_NS);
  }

  /**
   * To the limit on trial again, unless it has become hopeless since or the search has to end; what
   * looks better than a limit that was found is looked at to the end.
   */
  private void goOn() {
    boolean late = hurried && !hurries() && (home == max || !trial.looksBetter());
    if (late || (trial.challenger < home && trial.isHopeless())) {
      remember();
      stay(Trial.Verdict.EQUAL);
    } else {
      visit();
    }
  }

  private void learn() {
    learned++;
    if (comparedWith > 0) {
      if (learned >= Trial.STRETCH) {
        compareAnew();
        proceed();
      }
      return;
    }
    long neededNs = history.resolution(this::score) > UNEVEN ? LEARN_UNEVEN_NS : LEARN_NS;
    if (home == max) {
      neededNs = Math.max(neededNs, heap.fillsNs());
    }
    boolean enough = learned >= LEARN_WINDOWS && (questioned || history.lengthNs() >= neededNs);
    if (enough && home == max) {
      heap.learned(history.paused());
    }
    if (enough || (route.goesOn() && history.count() > LEARN_WINDOWS)) {
      proceed();
    }
  }

  /**
   * Corrects the results of other limits for a server that has become faster or slower since: by
   * the ratio of the rates at the limit that holds, then and now.
   */
  private void compareAnew() {
    double now = rate();
    compared(now > 0 ? Math.log(comparedWith / now) : 0);
  }

  private void compared(double better) {
    route.compareAnew(better);
    comparedWith = 0;
  }

  /** A limit that was found for few is called in question without a second look. */
  private void question(String more, Window window, int known) {
    afresh(more, window, home < max ? known : 0);
    questioned = home < max;
  }

  /**
   * @param known how many of the last windows are of the workload that there is now
   */
  private void afresh(String shifted, Window window, int known) {
    budget.grant(window.there());
    begin(home, "the workload changed: " + shifted, known);
  }

  private void begin(int limit, String why, int known) {
    home = limit;
    this.limit = limit;
    reason = why;
    trial = null;
    pileUp.clear();
    history.keep(known);
    shift.clear();
    heap.clear();
    route.restart();
    climbing = objective.throughputFirst();
    piling = false;
    rest.startOver();
    forgone = 0;
    learned = known;
    questioned = false;
    crowd.clear();
    comparedWith = 0;
    searchedNs = 0;
    step = Step.LEARN;
    pending = null;
  }

  /** Begins the next trial, if there is one that may be paid for; rests otherwise. */
  private void proceed() {
    boolean rested = step == Step.REST;
    crowd.learned(history);
    if (pending == null) {
      pending = next();
    }
    if (pending == null && climbing) {
      climbing = false;
      learned = 0;
      route.again();
      change(
          Step.RETURN,
          home,
          "the most throughput is at " + home + "; next the response time there");
      return;
    }
    if (pending == null && rested) {
      pending = route.explore(home, history.inside());
      rest.explored(route.promises());
    }
    if (pending != null && pending.challenger == home) {
      pending = null;
    }
    if (fillsFirst()) {
      step = Step.LEARN;
      learned = 0;
      reason = "waiting until the heap is full, " + says();
    } else if (pending == null || !(rested || hurries())) {
      rest.begin(nowNs);
      stop();
    } else if (affordable()) {
      leave();
    } else {
      rest.beginShort(nowNs);
      stop();
    }
  }

  private Trial next() {
    double resolution = history.resolution(this::score);
    return route.next(home, history.inside(), resolution, heap.collects());
  }

  /** Whether what the pending trial is likely to lose until it is broken off may be lost. */
  private boolean affordable() {
    double trialS = 2 * (history.figures(goal()::lagNs).mean() + pace.windowNs()) / 1e9;
    double lossS = route.likelyLoss(pending.challenger) * trialS;
    return budget.allows(Math.min(Budget.FIRST_S / 2, lossS));
  }

  private void stop() {
    step = Step.REST;
    reason =
        home == max ? "no limit: none was found to be better, " + says() : "best so far, " + says();
  }

  private String says() {
    return goal().say(history.figures(goal()::score).mean());
  }

  /** Goes to the limit that is to be tried. */
  private void leave() {
    trial = pending;
    pending = null;
    hurried = hurries();
    rest.leave(nowNs);
    piling = history.grows();
    if (comparedWith == 0) {
      drift.learn();
    }
    if (comparedWith == 0 && !piling) {
      comparedWith = rate();
    }
    Measured measured = history.measured(this::score, this::rate);
    trial.compareWith(home, measured, goal().isMean(), history.inflation(this::score));
    if (heap.remembersNs(trial.challenger > home) > 0) {
      trial.isFar();
    }
    tried.clear();
    visit();
  }

  private void visit() {
    pileUp.begin();
    beforehand = trial.beforehand();
    change(
        Step.SETTLE,
        trial.challenger,
        "trying " + trial.challenger + " against " + home + ": " + trial.why);
  }

  private void change(Step step, int limit, String why) {
    boolean onTheWay = step == Step.RETURN && limit < home;
    settling.begin(nowNs, onTheWay ? 0 : heap.remembersNs(limit > this.limit));
    heap.change(nowNs);
    this.step = step;
    this.limit = limit;
    reason = why;
  }

  /** Whether it was the limit shows when it is taken back. */
  private void piledUp(Window window) {
    pileUp.suspect(trial.challenger, window);
    trial.hurt("they pile up");
  }

  /**
   * Whether more are there than can be by chance: clients that do not wait pile up. Before anything
   * is known of the limit that holds nobody is too many.
   */
  private boolean overrun(Window window) {
    Sample there = history.figures(Window::there);
    double more = window.there() - there.mean();
    boolean ours = there.count() > 0 && (step == Step.RETURN || pileUp.explains(more));
    return !piling && ours && more > 0.5 * there.mean() + 4 * there.deviation() + 4;
  }

  private void measure(Window window, double score) {
    trial.add(score, rate(window), window);
    tried.add(window);
    Sample refused = history.figures(Window::badShare);
    if (overrun(window)) {
      piledUp(window);
    }
    boolean refuses = window.badShare() > refused.mean() + 4 * refused.deviation() + 0.01;
    if (refuses) {
      trial.hurt("more fail or are refused");
    } else if (budget.exhausted() && trial.difference().mean < 0) {
      trial.hurt(COSTS);
    }
    judge();
  }

  /** The least completion rate, in the form that {@link Trial#verdict} takes. */
  private double least() {
    return Math.log(goal().floor()) + forgone;
  }

  private void judge() {
    Trial.Verdict verdict = trial.verdict(least());
    if (verdict == Trial.Verdict.OPEN) {
      if (trial.stretchDone()) {
        change(Step.RETURN, wayBack(), "comparing " + trial.challenger + " with " + home);
      }
      return;
    }
    remember();
    boolean proven = route.proven(trial.challenger) && trial.keeps(least());
    if (verdict == Trial.Verdict.EQUAL && proven) {
      verdict = Trial.Verdict.BETTER;
    }
    boolean bound = history.figures(w -> w.limited ? 1 : 0).mean() > 0.5;
    boolean letGo =
        verdict == Trial.Verdict.EQUAL && trial.challenger == max && bound && route.asGoodWithout();
    if (verdict == Trial.Verdict.BETTER || letGo) {
      move(letGo);
    } else {
      stay(verdict);
    }
  }

  private void remember() {
    route.remember(trial, home);
    forgone = Math.max(forgone, trial.surelyMore());
  }

  private void move(boolean letGo) {
    String how = letGo ? "no limit is as good as " + home : trial.says();
    budget.settle();
    compared(0);
    route.moved(trial, home);
    forgone = Math.max(0, forgone - trial.more());
    home = trial.challenger;
    History left = history;
    history = tried;
    tried = left;
    crowd.moved(history);
    questioned &= home < max;
    if (home == max && heap.fillsNs() > 0) {
      history.keep(0);
    }
    shift.clear();
    trial = null;
    rest.moved(nowNs);
    learned = 0;
    step = Step.LEARN;
    reason = "moved to " + home + ": " + how;
  }

  private void stay(Trial.Verdict verdict) {
    boolean worse = verdict == Trial.Verdict.WORSE;
    String is = worse ? " is worse than " : " is no better than ";
    String how = trial.challenger + is + home + ": " + trial.says();
    route.stayed(verdict);
    trial = null;
    learned = 0;
    if (!worse && route.goesOn() && hurries() && nowNs - history.endNs() < FRESH_NS) {
      pending = next();
      if (pending != null && affordable()) {
        leave();
        return;
      }
    }
    change(Step.RETURN, wayBack(), how);
  }

  /**
   * A backlog is not let loose on a server at once: it goes in with no more than twice as many
   * inside as there used to be, until it is gone.
   */
  private int wayBack() {
    return Math.min(home, Math.max(limit, (int) Math.ceil(2 * history.inside())));
  }
}
