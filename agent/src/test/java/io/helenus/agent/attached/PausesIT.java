package io.helenus.agent.attached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.recording.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Recorded pauses and stalls have their true times on the monotonic clock. */
@Timeout(300)
class PausesIT {
  /** The longest time between the end of a pause and its line, unless its thread lost its CPU. */
  private static final long CLOCK_ERROR_NS = TimeUnit.MICROSECONDS.toNanos(500);

  static Stream<Jdk> jdks() {
    return Jdk.all();
  }

  static Stream<Arguments> collectors() {
    return Jdk.all()
        .flatMap(
            jdk ->
                Stream.of("Serial", "Parallel", "G1", "Z", "Shenandoah")
                    .filter(collector -> jdk.version >= 17 || !collector.matches("Z|Shenandoah"))
                    .map(collector -> Arguments.of(jdk, collector)));
  }

  /** Start and end of a System.gc(), on the clock of the rows. */
  private static long[] gc(Target target) throws Exception {
    String[] bracket = target.ask("gc").get(0).split(" ");
    return new long[] {
      Long.parseLong(bracket[0]) + FakeRecorder.EPOCH_OFFSET_NS,
      Long.parseLong(bracket[1]) + FakeRecorder.EPOCH_OFFSET_NS
    };
  }

  private static List<Schema.Row> whole(FakeRecorder.Session session, String kind) {
    return session.rows("pauses").stream()
        .filter(row -> row.get("kind").equals(kind) && row.get("phase") == null)
        .collect(Collectors.toList());
  }

  private static boolean within(Schema.Row row, long start, long end, long error) {
    return row.number("start_ns") >= start - error && row.endNs() <= end + error;
  }

  @ParameterizedTest
  @MethodSource("collectors")
  void everyCollectionThatWasAskedForHasItsPausesWithin(Jdk jdk, String collector)
      throws Exception {
    try (Target target = new Target(jdk, "-XX:+Use" + collector + "GC");
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start("pauses");
      session.await("sources", row -> row.get("source").equals("pauses"));
      List<long[]> brackets = new ArrayList<>();
      for (int round = 0; round < 8; round++) {
        target.ask("allocate");
        brackets.add(gc(target));
      }
      for (long[] bracket : brackets) {
        Schema.Row pause =
            session.await(
                "pauses",
                row ->
                    row.get("kind").equals("gc")
                        && row.get("phase") == null
                        && within(row, bracket[0], bracket[1], CLOCK_ERROR_NS));
        assertEquals("127.0.0.9", pause.get("node"));
        assertEquals("log", pause.get("provider"));
        assertNotNull(pause.get("collector"));
        assertTrue(pause.number("heap_before_bytes") > 0);
        assertTrue(pause.number("heap_after_bytes") > 0);
      }
      assertEquals("detached", session.detach());
      everyPauseIsWithinASafepoint(session);
      // Shenandoah logs no cause.
      assertTrue(
          collector.equals("Shenandoah")
              || whole(session, "gc").stream()
                  .anyMatch(row -> "System.gc()".equals(row.get("cause"))));
      assertEquals(0, session.rows("sources").stream().mapToLong(row -> row.number("lost")).sum());
    }
  }

  /**
   * Checks that each pause lies within a safepoint, so that rows of kind gc cover only stopped
   * time.
   */
  private static void everyPauseIsWithinASafepoint(FakeRecorder.Session session) {
    List<Schema.Row> safepoints = whole(session, "safepoint");
    List<Schema.Row> collections = whole(session, "gc");
    assertTrue(safepoints.size() >= 8);
    assertTrue(collections.size() >= 8);
    for (Schema.Row pause : collections) {
      assertTrue(
          safepoints.stream()
              .anyMatch(
                  safepoint ->
                      within(
                          pause, safepoint.number("start_ns"), safepoint.endNs(), CLOCK_ERROR_NS)),
          () -> "not within a safepoint: " + pause + ", of " + safepoints);
    }
    for (Schema.Row safepoint : safepoints) {
      long timeToSafepoint = safepoint.number("time_to_safepoint_ns");
      assertTrue(timeToSafepoint >= 0 && timeToSafepoint <= safepoint.number("duration_ns"));
      assertNotNull(safepoint.get("collector"), () -> "no operation in " + safepoint);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void withoutTheLogTimesAreGoodToTheMillisecond(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk, "-XX:+UseG1GC");
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options() + ",pauses=mxbean");
      // Often enough to show any conflict between the sampler and the JVM's own thread.
      FakeRecorder.Session session = recorder.accept().startEvery(10, "pauses");
      session.await("sources", row -> row.get("provider").equals("agent-mxbean"));
      for (int round = 0; round < 50; round++) {
        target.ask("allocate");
        long[] bracket = gc(target);
        Schema.Row pause =
            session.await(
                "pauses",
                row ->
                    "System.gc()".equals(row.get("cause"))
                        && within(row, bracket[0], bracket[1], 2_000_000));
        assertEquals("mxbean", pause.get("provider"));
        assertEquals("G1 Old Generation", pause.get("collector"));
      }
      assertEquals("detached", session.detach());
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aStoppedProcessIsAStallAndNoPause(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start("pauses", "stalls");
      session.await("sources", row -> row.get("source").equals("stalls"));
      target.signal("STOP");
      long stopped = System.nanoTime() + FakeRecorder.EPOCH_OFFSET_NS;
      Thread.sleep(400);
      long resumed = System.nanoTime() + FakeRecorder.EPOCH_OFFSET_NS;
      target.signal("CONT");
      Schema.Row stall =
          session.await(
              "stalls",
              row ->
                  row.number("start_ns") < stopped + 10_000_000
                      && row.endNs() >= resumed
                      && row.number("duration_ns") > 300_000_000);
      assertEquals("server", stall.get("side"));
      assertEquals("watcher", stall.get("kind"));
      assertEquals("127.0.0.9", stall.get("node"));
      session.detach();
      assertTrue(
          whole(session, "gc").stream()
              .noneMatch(row -> row.number("start_ns") < resumed && row.endNs() > stopped));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anothersRecordingGoesOn(Jdk jdk, @TempDir Path folder) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.jcmd("JFR.start", "name=mine");
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start("pauses");
      session.await("sources", row -> row.get("source").equals("pauses"));
      target.ask("gc");
      session.await("pauses", row -> row.get("kind").equals("gc"));
      session.detach();
      target.ask("gc");
      assertEquals(List.of("mine RUNNING"), target.ask("recordings"));
      Path file = folder.resolve("mine.jfr");
      target.jcmd("JFR.dump", "name=mine", "filename=" + file);
      String events =
          Target.run(
              jdk.tool("jfr").toString(), "print", "--events", "jdk.GarbageCollection", "" + file);
      assertTrue(events.split("cause = \"System.gc\\(\\)\"", -1).length >= 3, events);
      assertEquals(List.of("mine RUNNING"), target.ask("recordings"));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void threadsHaveTheirFullNames(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start("pauses");
      Awaiting.until(session::threadNames, names -> names.containsValue("helenus-agent-sampler"));
      for (long tid : session.threadNames().keySet()) {
        assertTrue(Path.of("/proc/" + target.pid() + "/task/" + tid).toFile().exists());
      }
      session.detach();
    }
  }
}
