package io.helenus.agent.valves;

import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.BlockingLimiter;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.helenus.agent.Hook;
import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.probes.Probe;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a gate and a probe cost a call, by way of the hook as woven code has it, and what the peers
 * do in the same run.
 */
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class GateBench {
  private static final int LIMIT = 8;

  /** About 2 µs of work inside the region. */
  private static final int WORK = 1_000;

  private static final int GATE = 0;
  private static final int PROBE = 1;

  private Limiter<Void> limiter;
  private Bulkhead bulkhead;

  @Setup
  public void setUp() {
    Crossings crossings = new Crossings();
    WaitingLine line = new WaitingLine(Order.FIFO, new double[] {1});
    Gate.Terms terms = new Gate.Terms(TimeUnit.MINUTES.toNanos(1), null);
    Gate gate = new Gate(new Precedence(), 0, terms, line);
    gate.limit(LIMIT);
    int site = crossings.number();
    crossings.site(site, gate.site(site, 0), null);
    int probed = crossings.number();
    crossings.site(probed, new Probe("p", probed, crossings.groups(), false, false), null);
    Hook.hold(crossings::enter, crossings::exit, crossings::wanted, (executor, task) -> false);
    limiter = BlockingLimiter.wrap(SimpleLimiter.newBuilder().limit(FixedLimit.of(LIMIT)).build());
    bulkhead =
        Bulkhead.of(
            "b",
            BulkheadConfig.custom()
                .maxConcurrentCalls(LIMIT)
                .maxWaitDuration(Duration.ofMinutes(1))
                .build(),
            Map.of());
  }

  @TearDown
  public void tearDown() {
    Hook.release();
  }

  private static void gated(Blackhole hole, int work) {
    Hook.enter(GATE);
    hole.consume(work);
    Blackhole.consumeCPU(work);
    Hook.exit(GATE);
  }

  private void limited(Blackhole hole, int work) {
    Limiter.Listener listener = limiter.acquire(null).orElseThrow();
    hole.consume(work);
    Blackhole.consumeCPU(work);
    listener.onSuccess();
  }

  private void bulkheaded(Blackhole hole, int work) {
    bulkhead.acquirePermission();
    hole.consume(work);
    Blackhole.consumeCPU(work);
    bulkhead.onComplete();
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void uncontendedNone(Blackhole hole) {
    hole.consume(0);
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void uncontendedGate(Blackhole hole) {
    gated(hole, 0);
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void uncontendedSimpleLimiter(Blackhole hole) {
    limited(hole, 0);
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void uncontendedSemaphoreBulkhead(Blackhole hole) {
    bulkheaded(hole, 0);
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public void uncontendedProbe(Blackhole hole) {
    Hook.enter(PROBE);
    hole.consume(0);
    Hook.exit(PROBE);
  }

  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public long uncontendedTwoLooksAtTheClock() {
    return System.nanoTime() - System.nanoTime();
  }

  @Benchmark
  @Threads(128)
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public void contendedGate(Blackhole hole) {
    gated(hole, WORK);
  }

  @Benchmark
  @Threads(128)
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public void contendedSimpleLimiter(Blackhole hole) {
    limited(hole, WORK);
  }

  @Benchmark
  @Threads(128)
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public void contendedSemaphoreBulkhead(Blackhole hole) {
    bulkheaded(hole, WORK);
  }
}
