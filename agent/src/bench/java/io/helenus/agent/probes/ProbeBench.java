package io.helenus.agent.probes;

import com.sun.tools.attach.VirtualMachine;
import io.helenus.agent.Hook;
import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.points.HookAccess;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Points;
import io.helenus.agent.points.Preset;
import io.helenus.agent.points.Weaving;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The overhead of a probe per call: woven into a loaded class as in a server, never woven, and
 * woven and removed again.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "-Djdk.attach.allowAttachSelf=true")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class ProbeBench {
  /** Separate classes, because a class is woven as a whole. */
  public static class NeverWoven {
    private long n;

    long next() {
      return n = n * 31 + 7;
    }
  }

  public static class Woven {
    private long n;

    long next() {
      return n = n * 31 + 7;
    }
  }

  public static class OnceWoven {
    private long n;

    long next() {
      return n = n * 31 + 7;
    }
  }

  /** Receives the instrumentation that the JVM gives an agent. */
  public static final class Attached {
    private static volatile Instrumentation instrumentation;

    private Attached() {}

    public static void agentmain(String options, Instrumentation instrumentation) {
      Attached.instrumentation = instrumentation;
    }
  }

  private final NeverWoven neverWoven = new NeverWoven();
  private final Woven woven = new Woven();
  private final OnceWoven onceWoven = new OnceWoven();
  private Weaving weaving;

  @Setup(Level.Trial)
  public void weave() throws Exception {
    Instrumentation instrumentation = attach();
    HookAccess hookAccess = new HookAccess(Hook.class);
    Dispatcher dispatcher = new Dispatcher();
    Hook.hold(dispatcher::enter, dispatcher::exit, dispatcher::wanted, (executor, task) -> false);
    weaving = new Weaving(instrumentation, hookAccess, System.err::println);
    weaving.mayDeoptimize(true);
    Points points = new Points(instrumentation, hookAccess, Preset.ofServer());
    in(dispatcher, points, Woven.class);
    int off = in(dispatcher, points, OnceWoven.class);
    for (int i = 0; i < 50_000; i++) {
      onceWoven.next();
    }
    weaving.change(Map.of(), List.of(off));
    dispatcher.unregister(off);
  }

  private int in(Dispatcher dispatcher, Points points, Class<?> type) {
    Point point = points.find(type.getName() + ".next", 1).get(0);
    int number = dispatcher.timedNumber();
    dispatcher.register(
        number, new Probe(point.name, number, dispatcher.groups(), false, false), null);
    weaving.change(Map.of(number, point), List.of());
    return number;
  }

  private static Instrumentation attach() throws Exception {
    Path jar = Files.createTempFile("probe-bench", ".jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Agent-Class", Attached.class.getName());
    manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    try (OutputStream file = Files.newOutputStream(jar)) {
      new JarOutputStream(file, manifest).close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
    self.loadAgent(jar.toString());
    self.detach();
    Files.delete(jar);
    return Attached.instrumentation;
  }

  @TearDown(Level.Trial)
  public void takeOut() {
    weaving.removeAll();
    Hook.release();
  }

  @Benchmark
  public long neverWoven() {
    return neverWoven.next();
  }

  @Benchmark
  public long switchedOff() {
    return onceWoven.next();
  }

  @Benchmark
  public long switchedOn() {
    return woven.next();
  }

  @Benchmark
  public long twoLooksAtTheClock() {
    return System.nanoTime() - System.nanoTime();
  }
}
