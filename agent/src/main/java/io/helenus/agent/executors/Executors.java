package io.helenus.agent.executors;

import io.helenus.agent.dispatch.Dispatcher;
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
 * Runs the tasks of chosen stages instead of their own executors.
 *
 * <p>All stages submit their tasks to the shared pool by one method. The woven method offers each
 * task here first, and a task that is accepted does not reach the pool. So no task is lost or run
 * twice: tasks queued earlier stay with the stage's own executor, and accepted tasks are run here,
 * even after the end. Tasks that the stage's own executor runs in the submitting thread ({@code
 * maybeExecuteImmediately}) are not resolved here.
 */
public final class Executors {
  /** The method that submits a task: in 4.0, 4.1 and 5.0, with different types of the task. */
  private static final String SUBMIT = "org.apache.cassandra.concurrent.SEPExecutor.addTask";

  private static final String NAME = "name";
  private static final long DRAIN_MS = 10_000;
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Points points;
  private final Weaving weaving;
  private final Dispatcher dispatcher;
  private final Consumer<String> log;
  private final Runnable afterLease;
  private final Map<Stage, Takeover> takeovers = new EnumMap<>(Stage.class);
  private final Map<Integer, Point> woven = new HashMap<>();
  private final Object routing = new Object();

  /** The workers by the name of the stage's pool. */
  private Map<String, Workers> routes = Map.of();

  /** The workers of each executor resolved so far; null for none. Replaced, never changed. */
  private volatile Map<Object, Workers> resolved = new IdentityHashMap<>();

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
      Map<String, Object> state = settings.toMap();
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
      Dispatcher dispatcher,
      Consumer<String> log,
      Runnable afterLease) {
    this.points = points;
    this.weaving = weaving;
    this.dispatcher = dispatcher;
    this.log = log;
    this.afterLease = afterLease;
  }

  /** Whether workers of this class run a task instead of the executor that it is submitted to. */
  public boolean take(Object executor, Object task) {
    Workers workers = workersFor(executor);
    return workers != null && task instanceof Runnable && workers.offer((Runnable) task);
  }

  private Workers workersFor(Object executor) {
    Map<Object, Workers> resolved = this.resolved;
    Workers workers = resolved.get(executor);
    return workers != null || resolved.containsKey(executor) ? workers : resolve(executor);
  }

  private Workers resolve(Object executor) {
    // Uses a lock other than that of the commands, because a command may wait until tasks have run.
    synchronized (routing) {
      Workers workers = routes.get(nameOf(executor));
      Map<Object, Workers> more = new IdentityHashMap<>(resolved);
      more.put(executor, workers);
      resolved = more;
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
   * Takes over a stage, or replaces the workers of a stage that was taken over.
   *
   * @throws Refusal if the stage can't be taken over; nothing has changed then
   */
  public synchronized Map<String, Object> set(Map<?, ?> given) throws InterruptedException {
    Settings settings = new Settings(given);
    if (woven.isEmpty()) {
      weave();
    }
    WorkerThreads threads = new WorkerThreads(settings.stage.pool(), server());
    Takeover takeover =
        new Takeover(settings, new Workers(settings.workers, settings.queue(), threads));
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
    List<Point> found = points.find(SUBMIT, 1);
    if (found.isEmpty()) {
      throw new Refusal("this server has no " + SUBMIT, "is this a Cassandra, 4.0 or later?");
    }
    int number = dispatcher.number();
    woven.put(number, found.get(0).diverted());
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
      resolved = new IdentityHashMap<>();
    }
  }

  /** Returns a stage to its own executor. */
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
        if (removeLapsed()) {
          afterLease.run();
        }
      } catch (Throwable e) {
        log.accept("an executor whose lease has ended is still there: " + e);
      }
    }
  }

  /** Returns stages whose lease has ended to their own executors. Whether there were any. */
  private synchronized boolean removeLapsed() throws InterruptedException {
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
