package io.helenus.agent.executors;

import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Points;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import io.helenus.agent.valves.Stage;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Runs the tasks of chosen stages in the place of their own executors.
 *
 * <p>All stages hand their tasks to the shared pool by one method. The woven method offers each
 * task here first, and a task that is taken does not reach the pool. So no task is lost or run
 * twice: tasks queued earlier stay with the stage's own executor, and tasks taken are run here,
 * even after the end. Tasks that the stage's own executor runs in the submitting thread ({@code
 * maybeExecuteImmediately}) are not seen here.
 */
public final class Executors {
  /** The same in 4.0, 4.1 and 5.0, but for the type of the task. */
  private static final String HANDS_OVER = "org.apache.cassandra.concurrent.SEPExecutor.addTask";

  private static final String NAME = "name";
  private static final long DRAIN_MS = 10_000;
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Points points;
  private final Weaving weaving;
  private final Crossings crossings;
  private final Consumer<String> log;
  private final Runnable afterLease;
  private final Map<Stage, Takeover> takeovers = new EnumMap<>(Stage.class);
  private final Map<Integer, Point> woven = new HashMap<>();
  private final Object routing = new Object();

  /** By the name of the stage's pool. */
  private Map<String, Workers> routes = Map.of();

  /** The workers for an executor that was seen, or null. Replaced, never changed. */
  private volatile Map<Object, Workers> seen = new IdentityHashMap<>();

  private volatile Thread watcher;

  /** A stage whose tasks are run here. */
  private static final class Takeover {
    final Settings settings;
    final Workers workers;
    volatile long renewedNs = System.nanoTime();

    Takeover(Settings settings, Workers workers) {
      this.settings = settings;
      this.workers = workers;
    }

    Map<String, Object> state() {
      Map<String, Object> state = settings.told();
      state.put("inside", (long) workers.inside());
      state.put("waiting", (long) workers.waiting());
      state.put("ran", workers.ran());
      return state;
    }

    boolean hasLapsed() {
      return settings.leaseNs > 0 && System.nanoTime() - renewedNs > settings.leaseNs;
    }
  }

  /**
   * @param afterLease called when a stage has its own executor again because its lease ended
   */
  public Executors(
      Points points,
      Weaving weaving,
      Crossings crossings,
      Consumer<String> log,
      Runnable afterLease) {
    this.points = points;
    this.weaving = weaving;
    this.crossings = crossings;
    this.log = log;
    this.afterLease = afterLease;
  }

  /** Whether a task that is handed to an executor is taken from it. */
  public boolean take(Object executor, Object task) {
    Workers workers = workersFor(executor);
    return workers != null && task instanceof Runnable && workers.offer((Runnable) task);
  }

  private Workers workersFor(Object executor) {
    Map<Object, Workers> seen = this.seen;
    Workers workers = seen.get(executor);
    return workers != null || seen.containsKey(executor) ? workers : see(executor);
  }

  private Workers see(Object executor) {
    // Not the lock of the commands, which may wait until tasks have run.
    synchronized (routing) {
      Workers workers = routes.get(nameOf(executor));
      Map<Object, Workers> more = new IdentityHashMap<>(seen);
      more.put(executor, workers);
      seen = more;
      return workers;
    }
  }

  private static String nameOf(Object executor) {
    try {
      Field name = executor.getClass().getField(NAME);
      return String.valueOf(name.get(executor));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Takes over a stage, or has other workers do so.
   *
   * @throws Refusal and nothing has changed
   */
  public synchronized Map<String, Object> set(Map<?, ?> given) throws InterruptedException {
    Settings settings = new Settings(given);
    if (woven.isEmpty()) {
      weave();
    }
    WorkerThreads threads = new WorkerThreads(settings.stage.pool(), server());
    Takeover takeover =
        new Takeover(settings, new Workers(settings.workers, settings.queueing(), threads));
    Takeover before = takeovers.put(settings.stage, takeover);
    route();
    if (watcher == null) {
      watcher = new Thread(this::watch, "helenus-agent-executors");
      watcher.setDaemon(true);
      watcher.setContextClassLoader(null);
      watcher.start();
    }
    if (before != null) {
      drain(before);
    }
    return takeover.state();
  }

  private void weave() {
    List<Point> found = points.find(HANDS_OVER, 1);
    if (found.isEmpty()) {
      throw new Refusal("this server has no " + HANDS_OVER, "is this a Cassandra, 4.0 or later?");
    }
    int number = crossings.number();
    woven.put(number, found.get(0).taking());
    try {
      weaving.change(woven, List.of());
    } catch (RuntimeException e) {
      woven.clear();
      throw e;
    }
  }

  private static ClassLoader server() {
    return ClassLoader.getSystemClassLoader();
  }

  private void route() {
    synchronized (routing) {
      routes =
          takeovers.values().stream()
              .collect(
                  Collectors.toMap(
                      takeover -> takeover.settings.stage.pool(), takeover -> takeover.workers));
      seen = new IdentityHashMap<>();
    }
  }

  /** Gives a stage back to its own executor. */
  public synchronized void remove(String name) throws InterruptedException {
    Stage stage = Stage.of(name);
    if (!takeovers.containsKey(stage)) {
      List<String> taken =
          takeovers.keySet().stream().map(Stage::toString).collect(Collectors.toList());
      throw new Refusal(
          "the stage " + name + " has its own executor",
          Nearest.hint(name, taken, taken.isEmpty() ? "there is nothing to undo" : "see the list"));
    }
    remove(List.of(stage));
  }

  public synchronized void removeAll() throws InterruptedException {
    remove(List.copyOf(takeovers.keySet()));
  }

  private void remove(List<Stage> stages) throws InterruptedException {
    List<Takeover> removed = new ArrayList<>();
    stages.forEach(stage -> removed.add(takeovers.remove(stage)));
    route();
    if (takeovers.isEmpty() && !woven.isEmpty()) {
      weaving.change(Map.of(), List.copyOf(woven.keySet()));
      woven.clear();
      Thread ending = watcher;
      watcher = null;
      LockSupport.unpark(ending);
    }
    for (Takeover takeover : removed) {
      drain(takeover);
    }
  }

  private void drain(Takeover takeover) throws InterruptedException {
    takeover.workers.close();
    if (!takeover.workers.awaitEnd(DRAIN_MS)) {
      log.accept(
          "the executor of "
              + takeover.settings.stage
              + " takes no more, and still has "
              + takeover.workers.waiting()
              + " tasks; it ends when they have run");
    }
  }

  /** Renews all leases. */
  public synchronized void renew() {
    takeovers.values().forEach(takeover -> takeover.renewedNs = System.nanoTime());
  }

  public synchronized boolean isEmpty() {
    return takeovers.isEmpty();
  }

  public synchronized List<Map<String, Object>> list() {
    return takeovers.values().stream().map(Takeover::state).collect(Collectors.toList());
  }

  private void watch() {
    while (watcher == Thread.currentThread()) {
      LockSupport.parkNanos(TICK_NS);
      try {
        if (giveBackLapsed()) {
          afterLease.run();
        }
      } catch (Throwable e) {
        log.accept("an executor whose lease has ended is still there: " + e);
      }
    }
  }

  /** Whether there was one. */
  private synchronized boolean giveBackLapsed() throws InterruptedException {
    List<Stage> lapsed = new ArrayList<>();
    takeovers.forEach(
        (stage, takeover) -> {
          if (takeover.hasLapsed()) {
            lapsed.add(stage);
          }
        });
    if (!lapsed.isEmpty()) {
      log.accept("nobody has renewed the lease of the executors of " + lapsed);
      remove(lapsed);
    }
    return !lapsed.isEmpty();
  }
}
