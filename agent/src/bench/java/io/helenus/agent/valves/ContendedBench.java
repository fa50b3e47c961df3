package io.helenus.agent.valves;

import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.BlockingLimiter;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.helenus.agent.Hook;
import io.helenus.agent.dispatch.Dispatcher;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Many threads contend for a region that only a few may be in: measures the time per call until all
 * calls are done.
 *
 * <p>The threads are this class's own and share a fixed number of calls. With those of the harness
 * each thread's calls would be divided by the time for which that thread ran, and the sum over them
 * is more than all CPUs can do wherever threads take turns for long.
 *
 * <p>After each trial some more calls are made to see that no more than the limit were inside.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(5)
@Warmup(iterations = 4)
@Measurement(iterations = 8)
public class ContendedBench {
  private static final int THREADS = 128;
  private static final int LIMIT = 8;
  private static final int CALLS = 256_000;

  /** How many of the remaining calls a thread takes at a time. */
  private static final int BATCH = 20;

  /** Work of about 2 µs; {@link #workAlone} measures it on this machine. */
  private static final int WORK = 1_000;

  private static final Duration LONG = Duration.ofMinutes(10);

  /** The work in the region, and the limiter that guards the region. */
  private interface Region {
    void call(Runnable work);
  }

  private final CyclicBarrier begun = new CyclicBarrier(THREADS + 1);
  private final CyclicBarrier ended = new CyclicBarrier(THREADS + 1);
  private final AtomicLong left = new AtomicLong();
  private final AtomicInteger inside = new AtomicInteger();
  private final LongAccumulator mostInside = new LongAccumulator(Math::max, 0);
  private final LongAccumulator slowestNs = new LongAccumulator(Math::max, 0);
  private volatile Region region;
  private volatile Runnable work;

  @Setup(Level.Trial)
  public void startThreads() {
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(this::takePart, "contender-" + i);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void takePart() {
    try {
      while (true) {
        begun.await();
        Region region = this.region;
        Runnable work = this.work;
        while (left.getAndAdd(-BATCH) > 0) {
          for (int i = 0; i < BATCH; i++) {
            region.call(work);
          }
        }
        ended.await();
      }
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  private void all(Region region, Runnable work, int calls) {
    this.region = region;
    this.work = work;
    left.set(calls);
    try {
      begun.await();
      ended.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void work() {
    Blackhole.consumeCPU(WORK);
  }

  @TearDown(Level.Trial)
  public void seeThatTheLimitHolds() {
    Region region = this.region;
    if (region == null || region == NONE) {
      return;
    }
    Region timed =
        work -> {
          long start = System.nanoTime();
          region.call(work);
          slowestNs.accumulate(System.nanoTime() - start);
        };
    Runnable counted =
        () -> {
          mostInside.accumulate(inside.incrementAndGet());
          work();
          inside.decrementAndGet();
        };
    all(timed, counted, CALLS);
    System.out.printf(
        "at most %d inside, the slowest call took %.1f ms%n",
        mostInside.get(), slowestNs.get() / 1e6);
    if (mostInside.get() > LIMIT) {
      throw new IllegalStateException(mostInside.get() + " were inside, and " + LIMIT + " may be");
    }
  }

  private static final Region NONE = Runnable::run;

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void none() {
    all(NONE, ContendedBench::work, CALLS);
  }

  /** A single thread, without a gate. */
  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void workAlone() {
    for (int i = 0; i < CALLS; i++) {
      work();
    }
  }

  /** A gate, called as woven code does. */
  @State(Scope.Benchmark)
  public static class Gated {
    private static final int SITE = 0;

    @Setup
    public void hold() {
      Dispatcher dispatcher = new Dispatcher();
      WaitQueue queue = new WaitQueue(Order.FIFO, new double[] {1});
      Gate gate =
          new Gate(new GateOrder(), 0, new Gate.OverflowPolicy(LONG.toNanos(), null), queue);
      gate.limit(LIMIT);
      dispatcher.register(dispatcher.number(), gate.interceptor(SITE, 0), null);
      Hook.hold(dispatcher::enter, dispatcher::exit, dispatcher::wanted, (executor, task) -> false);
    }

    private final Region region =
        work -> {
          Hook.enter(SITE);
          work.run();
          Hook.exit(SITE);
        };
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void gate(Gated gated) {
    all(gated.region, ContendedBench::work, CALLS);
  }

  /** Netflix's limiter, which refuses calls, in a wrapper of that library that waits. */
  @State(Scope.Benchmark)
  public static class Limited {
    private final Limiter<Void> limiter =
        BlockingLimiter.wrap(SimpleLimiter.newBuilder().limit(FixedLimit.of(LIMIT)).build());
    private final Region region =
        work -> {
          Limiter.Listener listener = limiter.acquire(null).orElseThrow();
          work.run();
          listener.onSuccess();
        };
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void simpleLimiter(Limited limited) {
    all(limited.region, ContendedBench::work, CALLS);
  }

  private static Region bulkhead(boolean fair) {
    BulkheadConfig config =
        BulkheadConfig.custom()
            .maxConcurrentCalls(LIMIT)
            .maxWaitDuration(LONG)
            .fairCallHandlingStrategyEnabled(fair)
            .build();
    Bulkhead bulkhead = Bulkhead.of("b", config, Map.of());
    return work -> {
      bulkhead.acquirePermission();
      work.run();
      bulkhead.onComplete();
    };
  }

  /** A fair semaphore: threads enter in order of arrival. */
  @State(Scope.Benchmark)
  public static class Fair {
    private final Region region = bulkhead(true);
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void semaphoreBulkhead(Fair fair) {
    all(fair.region, ContendedBench::work, CALLS);
  }

  /** An unfair semaphore: arriving threads enter before waiting ones. */
  @State(Scope.Benchmark)
  public static class Unfair {
    private final Region region = bulkhead(false);
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void semaphoreBulkheadUnfair(Unfair unfair) {
    all(unfair.region, ContendedBench::work, CALLS);
  }
}
