package io.helenus.agent.valves;

import io.helenus.agent.Hook;
import io.helenus.agent.crossing.Crossings;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of the first thousand calls at a gate in a fresh JVM. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(10)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class FirstCallsBench {
  private static final int CALLS = 1_000;

  @Param({"false", "true"})
  public boolean rehearsed;

  private int site;

  @Setup
  public void setUp() throws InterruptedException {
    Crossings crossings = new Crossings();
    Hook.hold(crossings::enter, crossings::exit, crossings::wanted, (executor, task) -> false);
    if (rehearsed) {
      Rehearsal.hold(crossings);
      // Compilers have nothing else to do here.
      TimeUnit.SECONDS.sleep(1);
    }
    WaitingLine line = new WaitingLine(Order.FIFO, new double[] {1});
    Gate.Terms terms = new Gate.Terms(TimeUnit.MINUTES.toNanos(1), null);
    Gate gate = new Gate(new Precedence(), 0, terms, line);
    site = crossings.number();
    crossings.site(site, gate.site(site, 0), null);
  }

  @Benchmark
  @OperationsPerInvocation(CALLS)
  public void first() {
    for (int call = 0; call < CALLS; call++) {
      Hook.enter(site);
      Hook.exit(site);
    }
  }
}
