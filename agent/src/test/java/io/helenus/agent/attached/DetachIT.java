package io.helenus.agent.attached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.recording.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** After an agent ends, in whatever way, the server is as it was before. */
@Timeout(300)
class DetachIT {
  private static final String[] ALL = {
    "pauses", "pools", "tables", "stalls", "client_requests", "node_metrics", "definitions"
  };

  static Stream<Jdk> jdks() {
    return Jdk.all();
  }

  private static void leavesNothing(Target target) throws Exception {
    Awaiting.until(target::traces, List::isEmpty);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void detachedManyTimes(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      leavesNothing(target);
      for (int round = 0; round < 4; round++) {
        String provider = round == 3 ? "mxbean" : "log";
        target.attach(recorder.options() + (round == 3 ? ",pauses=mxbean" : ""));
        FakeRecorder.Session session = recorder.accept();
        assertEquals(FakeRecorder.TOKEN, session.token);
        assertTrue(session.hello.contains("\"pid\":" + target.pid()), session.hello);
        assertTrue(session.hello.contains("\"pauses\":\"" + provider + "\""), session.hello);
        assertTrue(session.hello.contains("\"cassandra\":null"), session.hello);
        String version = System.getProperty("helenus.agent.version");
        assertTrue(session.hello.contains("\"agent\":\"" + version + "\""), session.hello);
        session.start(ALL);
        session.await("sources", row -> row.get("source").equals("stalls"));
        session.await("sources", row -> row.get("source").equals("pauses"));
        // The traces that the test searches for after the detach exist before it.
        String traces = String.join("\n", target.traces());
        for (String trace :
            List.of("class io.helenus.agent.core.Agent", "thread helenus-agent", "recorders ")) {
          assertTrue(traces.contains(trace), traces);
        }
        assertTrue(traces.contains("file socket:"), traces);
        assertTrue(traces.contains(provider.equals("log") ? "log " : "listeners "), traces);
        target.ask("gc");
        session.await("pauses", row -> row.get("kind").equals("gc"));
        assertEquals("detached", session.detach());
        assertTrue(session.log().isEmpty(), session.log().toString());
        leavesNothing(target);
      }
    }
  }

  /** Deletes the jar once the agent is loaded, as a recorder may do. */
  @ParameterizedTest
  @MethodSource("jdks")
  void aJarThatIsGoneOnceLoadedAndThenAnother(Jdk jdk, @TempDir Path folder) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      for (String name : List.of("first.jar", "second.jar")) {
        Path jar = Files.copy(Path.of(Target.JAR), folder.resolve(name));
        target.attach(jar, recorder.options() + ",jar=" + jar);
        Files.delete(jar);
        FakeRecorder.Session session = recorder.accept().start(ALL);
        session.await("sources", row -> row.get("source").equals("pauses"));
        assertEquals("detached", session.detach());
        assertTrue(session.log().isEmpty(), session.log().toString());
        leavesNothing(target);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theRecorderIsKilled(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start(ALL);
      session.await("sources", row -> row.get("source").equals("pauses"));
      session.close();
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void noRecorderListens(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk)) {
      FakeRecorder recorder = new FakeRecorder();
      recorder.close();
      target.attach(recorder.options());
      Awaiting.until(target::stderr, text -> text.contains("helenus agent: no recorder at"));
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theTokenIsRefused(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.connect() + ",token=wrong");
      FakeRecorder.Session session = recorder.accept();
      assertEquals("wrong", session.token);
      session.close();
      Awaiting.until(target::stderr, text -> text.contains("token may be wrong"));
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theOptionsAreWrong(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk)) {
      target.attach("connect=nowhere");
      Awaiting.until(target::stderr, text -> text.contains("connect=HOST:PORT is needed"));
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theRecorderSendsGarbage(Jdk jdk) throws Exception {
    byte[] hugeFrame =
        ByteBuffer.allocate(5).order(ByteOrder.LITTLE_ENDIAN).putInt(Integer.MAX_VALUE).array();
    byte[] emptyFrame = new byte[4];
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      for (byte[] garbage : List.of(hugeFrame, emptyFrame)) {
        target.attach(recorder.options());
        FakeRecorder.Session session = recorder.accept().start(ALL);
        session.await("sources", row -> row.get("source").equals("pauses"));
        session.sendBytes(garbage);
        String bye = session.awaitBye();
        assertTrue(bye.startsWith("protocol error: a frame of"), bye);
      }
      target.attach(recorder.options());
      FakeRecorder.Session unknownKind = recorder.accept().start("stalls");
      unknownKind.send(77, "x");
      assertEquals("protocol error: a frame of the unknown kind 77", unknownKind.awaitBye());
      target.attach(recorder.options());
      FakeRecorder.Session noStart = recorder.accept();
      noStart.send(1, "{\"sources\":3}");
      String bye = noStart.awaitBye();
      assertTrue(bye.startsWith("protocol error: START needs"), bye);
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aSecondStartObservesAnewWithoutAnotherAttach(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept().start("pauses", "stalls");
      session.await("sources", row -> row.get("source").equals("stalls"));
      session.start("pauses");
      List<Schema.Row> since =
          Awaiting.until(
              session::rowsSinceStart,
              rows -> rows.stream().anyMatch(row -> row.get("source").equals("pauses")));
      assertTrue(
          since.stream().noneMatch(row -> row.get("source").equals("stalls")),
          "nothing of the first is left: " + since);
      target.ask("gc");
      session.await("pauses", row -> row.get("kind").equals("gc"));
      assertEquals("detached", session.detach());
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void severalRecordersObserveAtOnceButNotOneTwice(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder first = new FakeRecorder();
        FakeRecorder second = new FakeRecorder()) {
      target.attach(first.options());
      FakeRecorder.Session one = first.accept().start("pauses", "nonsense");
      one.await("sources", row -> row.get("source").equals("pauses"));
      Awaiting.until(one::log, log -> log.toString().contains("there is no source nonsense"));
      target.attach(second.options());
      FakeRecorder.Session two = second.accept().start("pauses");
      two.await("sources", row -> row.get("source").equals("pauses"));
      target.attach(first.options());
      String refusal = first.accept().start("pauses").awaitBye();
      assertTrue(refusal.startsWith("already attached by 127.0.0.1:"), refusal);
      target.ask("gc");
      one.await("pauses", row -> row.get("kind").equals("gc"));
      two.await("pauses", row -> row.get("kind").equals("gc"));
      assertEquals("detached", one.detach());
      target.ask("gc");
      long before = two.rows("pauses").size();
      two.await("pauses", row -> two.rows("pauses").size() > before);
      assertEquals("detached", two.detach());
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void startedWithTheServerItWaitsForItsRecorder(Jdk jdk, @TempDir Path folder) throws Exception {
    Path token = folder.resolve("token");
    try (FakeRecorder recorder = new FakeRecorder();
        Target target =
            new Target(
                jdk,
                "-javaagent:" + Target.JAR + "=" + recorder.connect() + ",token-file=" + token)) {
      assertTrue(target.ask("threads").contains("helenus-agent"));
      Files.writeString(token, "wrong");
      FakeRecorder.Session refused = recorder.accept();
      assertEquals("wrong", refused.token);
      Files.writeString(token, FakeRecorder.TOKEN);
      refused.close();
      FakeRecorder.Session session = recorder.accept();
      while (!session.token.equals(FakeRecorder.TOKEN)) {
        session.close();
        session = recorder.accept();
      }
      session.start(ALL);
      session.await("sources", row -> row.get("source").equals("pauses"));
      assertEquals("detached", session.detach());
      leavesNothing(target);
    }
  }
}
