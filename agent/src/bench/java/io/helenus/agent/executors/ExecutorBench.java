package io.helenus.agent.executors;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.cassandra.concurrent.SharedExecutorPool;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** A round trip of a task: it is submitted, run by a worker, and the submitting thread is woken. */
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ExecutorBench {
  private static final int WORKERS = 8;

  /** About 2 µs of work in the task. */
  private static final int WORK = 1_000;

  @Param({"server", "queue-per-thread", "queue-per-thread-stealing", "batched-drain"})
  String executor;

  private Workers workers;
  private Executor target;

  @Setup
  public void setUp() {
    if (executor.equals("server")) {
      DatabaseDescriptor.clientInitialization();
      target = SharedExecutorPool.SHARED.newExecutor(WORKERS, size -> {}, "bench", "Bench");
      return;
    }
    TaskQueue queueing =
        executor.equals("batched-drain")
            ? new BatchedDrain(16)
            : new QueuePerThread(WORKERS, executor.endsWith("stealing"));
    workers =
        new Workers(WORKERS, queueing, new WorkerThreads("Bench", getClass().getClassLoader()));
    target = workers::offer;
  }

  @TearDown
  public void tearDown() {
    if (workers != null) {
      workers.close();
    }
  }

  /** A task, with the thread that waits for its end. */
  private static final class Trip implements Runnable {
    private final Thread giver = Thread.currentThread();
    private volatile boolean done;

    @Override
    public void run() {
      Blackhole.consumeCPU(WORK);
      done = true;
      LockSupport.unpark(giver);
    }
  }

  private void thereAndBack() {
    Trip trip = new Trip();
    target.execute(trip);
    while (!trip.done) {
      LockSupport.park(this);
    }
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.MICROSECONDS)
  public void alone() {
    thereAndBack();
  }

  @Benchmark
  @Threads(64)
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public void of64() {
    thereAndBack();
  }
}
