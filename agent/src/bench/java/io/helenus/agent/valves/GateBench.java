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
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The overhead of a gate per call on one thread while there is room, through the hook as in woven
 * code, and the overhead of comparable limiters in the same run.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class GateBench {
  private static final int LIMIT = 8;

  private static final int GATE = 0;

  private Limiter<Void> limiter;
  private Bulkhead bulkhead;

  @Setup
  public void setUp() {
    Dispatcher dispatcher = new Dispatcher();
    WaitQueue queue = new WaitQueue(Order.FIFO, new double[] {1});
    Gate.OverflowPolicy policy = new Gate.OverflowPolicy(TimeUnit.MINUTES.toNanos(1), null);
    Gate gate = new Gate(new GateOrder(), 0, policy, queue);
    gate.limit(LIMIT);
    int site = dispatcher.number();
    dispatcher.register(site, gate.interceptor(site, 0), null);
    Hook.hold(dispatcher::enter, dispatcher::exit, dispatcher::wanted, (executor, task) -> false);
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

  @Benchmark
  public void none(Blackhole hole) {
    hole.consume(0);
  }

  @Benchmark
  public void gate(Blackhole hole) {
    Hook.enter(GATE);
    hole.consume(0);
    Hook.exit(GATE);
  }

  @Benchmark
  public void simpleLimiter(Blackhole hole) {
    Limiter.Listener listener = limiter.acquire(null).orElseThrow();
    hole.consume(0);
    listener.onSuccess();
  }

  @Benchmark
  public void semaphoreBulkhead(Blackhole hole) {
    bulkhead.acquirePermission();
    hole.consume(0);
    bulkhead.onComplete();
  }
}
