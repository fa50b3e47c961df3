package io.helenus.agent.attached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Valves and probes in a JVM under load: they take effect, accept relayed commands, and leave
 * nothing behind.
 */
@Timeout(600)
class ControlIT {
  private static final String WORK = Work.class.getName();
  private static final String ADD =
      "{'do':'valve.add','name':'w','at':'"
          + WORK
          + ".request','law':'fixed',"
          + "'parameters':{'limit':2},'max':64}";
  private static final String REMOVE = "{'do':'valve.remove','name':'w'}";

  static Stream<Jdk> jdks() {
    return Jdk.all();
  }

  private static String cold(String command) {
    return command.replaceFirst("}$", ",'cold':true}");
  }

  private static void leavesNothing(Target target) throws Exception {
    Awaiting.until(target::traces, List::isEmpty);
  }

  private static long done(Target target) throws Exception {
    return Long.parseLong(target.ask("worked").get(0).split(" ")[0]);
  }

  private static void goesOn(Target target) throws Exception {
    long before = done(target);
    Awaiting.until(() -> done(target), now -> now > before + 1_000);
  }

  /**
   * The bytes of the classes, as an agent attached last sees them. On some older JDKs the constant
   * pool keeps unused entries; everything else has to be the same.
   */
  private static List<String> bytes(Target target, Path folder) throws Exception {
    target.attach(ClassBytes.jar(folder), "");
    List<String> classes = new ArrayList<>();
    for (String line : target.ask("bytes")) {
      ClassWriter fresh = new ClassWriter(0);
      new ClassReader(Base64.getDecoder().decode(line.split(" ")[1])).accept(fresh, 0);
      classes.add(Base64.getEncoder().encodeToString(fresh.toByteArray()));
    }
    return classes;
  }

  /** The threads, without those that the JDK starts on an attach or on a check for JFR. */
  private static List<String> threads(Target target) throws Exception {
    return target.ask("threads").stream()
        .filter(name -> !name.startsWith("JFR ") && !name.equals("Attach Listener"))
        .collect(Collectors.toList());
  }

  private static void ok(String reply) {
    assertTrue(reply.startsWith("{\"ok\":"), reply);
  }

  private static void refused(String reply, String why, String hint) {
    assertTrue(reply.startsWith("{\"error\":") && reply.contains(why), reply);
    assertTrue(reply.contains(hint), reply);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aJvmThatIsNotReadyIsWovenOnlyIfItMayThrowItsCodeAway(Jdk jdk, @TempDir Path folder)
      throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.ask("work");
      List<String> bytes = bytes(target, folder);
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept();
      String start = "{'do':'probes.start','at':['" + WORK + ".step']}";
      refused(session.command(ADD), "deoptimizes all of its compiled code", "--cold");
      refused(session.command(start), "deoptimizes all of its compiled code", "--cold");
      assertEquals(bytes, bytes(target, folder));
      ok(session.command(cold(ADD)));
      ok(session.command(start));
      ok(session.command("{'do':'probes.stop'}"));
      ok(session.command(REMOVE));
      assertEquals("detached", session.detach());
      leavesNothing(target);
      // The JVM tracks dependencies from then on, and the next agent knows that.
      target.attach(recorder.options());
      session = recorder.accept();
      ok(session.command(ADD));
      ok(session.command(REMOVE));
      assertEquals("detached", session.detach());
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aHundredTimesUnderLoadWithoutAFailedRequest(Jdk jdk, @TempDir Path folder) throws Exception {
    try (Target target = new Target(jdk, "-javaagent:" + Target.JAR + "=ready");
        FakeRecorder recorder = new FakeRecorder()) {
      target.ask("work");
      List<String> bytes = bytes(target, folder);
      List<String> threads = threads(target);
      for (int round = 0; round < 100; round++) {
        target.attach(recorder.options());
        FakeRecorder.Session session = recorder.accept();
        ok(session.command(ADD));
        if (round % 3 == 0) {
          ok(session.command("{'do':'probes.start','at':['" + WORK + ".step']}"));
        }
        ok(session.command("{'do':'valve.set','name':'w','law':'fixed','parameters':{'limit':4}}"));
        if (round % 10 == 0) {
          assertNotEquals(bytes, bytes(target, folder));
          goesOn(target);
        }
        if (round % 5 == 0) {
          // The valve outlives the connection; commands of the next connection are relayed to it.
          assertEquals("detached", session.detach());
          target.attach(recorder.options());
          session = recorder.accept();
        }
        if (round % 3 == 0) {
          ok(session.command("{'do':'probes.stop'}"));
        }
        ok(session.command(REMOVE));
        assertEquals("detached", session.detach());
        assertEquals(List.of(), session.log());
      }
      goesOn(target);
      assertEquals("0", target.ask("worked").get(0).split(" ")[1]);
      assertEquals(bytes, bytes(target, folder));
      leavesNothing(target);
      assertEquals(threads, Awaiting.until(() -> threads(target), now -> now.equals(threads)));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aValveIsSeenByAllAndItsWindowsAreRecorded(Jdk jdk) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.ask("work");
      target.attach(recorder.options());
      FakeRecorder.Session first = recorder.accept();
      ok(first.command(cold(ADD)));
      first.close();
      target.attach(recorder.options());
      FakeRecorder.Session second = recorder.accept().start("valves", "probes");
      ok(second.command("{'do':'probes.start','at':['" + WORK + ".request','Work.step']}"));
      second.await(
          "valves",
          row ->
              row.get("valve").equals("w")
                  && Long.valueOf(2).equals(row.get("limit"))
                  && row.number("completed") > 0
                  && row.number("failed") > 0
                  && row.get("p99_ns") != null);
      second.await("probes", row -> row.get("probe").toString().contains("request"));
      second.await(
          "probe_calls",
          row ->
              row.get("caller").toString().contains("request")
                  && row.get("probe").toString().contains("step")
                  && row.get("thread_group").equals("Work"));
      second.await("probe_latency", row -> row.number("low_ns") < row.number("high_ns"));
      // The steps of the work are shorter than the cost of metering them.
      second.await(
          "probes",
          row ->
              row.get("off_reason") != null
                  && row.get("off_reason").toString().contains("threshold"));
      List<String> beans = target.ask("beans");
      assertTrue(beans.stream().anyMatch(bean -> bean.contains("Version=1")), beans.toString());
      assertTrue(
          beans.stream().anyMatch(bean -> bean.contains("name=\"w\"") && bean.contains("Limit=2")),
          beans.toString());
      ok(second.command("{'do':'probes.stop'}"));
      ok(second.command(REMOVE));
      assertEquals("detached", second.detach());
      leavesNothing(target);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void whatCanNotBeDoneIsSaidAndChangesNothing(Jdk jdk, @TempDir Path folder) throws Exception {
    try (Target target = new Target(jdk);
        FakeRecorder recorder = new FakeRecorder()) {
      target.ask("work");
      List<String> bytes = bytes(target, folder);
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept();
      String add = "{'do':'valve.add','name':'w','law':'fixed','at':'";
      refused(session.command(add + WORK + ".reqest'}"), "no method", "did you mean request");
      refused(session.command(add + "io.helenus.Wrok.request'}"), "no class", "Work");
      refused(session.command(add + WORK + ".*','at_most':3}"), "3 are allowed", "bound");
      refused(session.command(add + WORK + ".locked'}"), "no gate may stand", "probe");
      refused(session.command(add + "java.lang.String.length'}"), "can't reach", "class loader");
      refused(session.command(add + "reads'}"), "no point", "package.Class.method");
      refused(
          session.command(add + WORK + ".request','refuse':true}"), "can't be refused", "preset");
      refused(
          session.command("{'do':'valve.add','name':'w','law':'fixt','at':'" + WORK + ".request'}"),
          "fixt",
          "law");
      refused(
          session.command("{'do':'valve.add','name':'w','law':'fixed','stage':'read'}"),
          "can't be read",
          "Cassandra");
      refused(session.command("{'do':'valve.remove','name':'x'}"), "no valve x", "add one");
      refused(session.command("{'do':'dance'}"), "no command dance", "valve.add");
      refused(session.command("no json"), "no JSON object", "PROTOCOL");
      ok(session.command("{'do':'points.find','pattern':'" + WORK + ".re*'}"));
      assertEquals("detached", session.detach());
      assertEquals(bytes, bytes(target, folder));
      leavesNothing(target);
      target.ask("resident of another version");
      target.attach(recorder.options());
      FakeRecorder.Session other = recorder.accept();
      refused(other.command(ADD), "of another version", "helenus that set them");
      other.detach();
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void valvesOfAFileGovernFromTheStartOn(Jdk jdk, @TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("valves.toml"),
            "[[valve]]\nname = \"w\"\nat = \""
                + WORK
                + ".request\"\nlaw = \"fixed\"\n"
                + "parameters = { limit = 3 }\n"
                + "[[valve]]\nname = \"x\"\nat = \""
                + WORK
                + ".nothing\"\nlaw = \"fixed\"\n");
    try (Target target = new Target(jdk, "-javaagent:" + Target.JAR + "=" + file);
        FakeRecorder recorder = new FakeRecorder()) {
      Awaiting.until(target::stderr, text -> text.contains("valve x of"));
      target.ask("work");
      Awaiting.until(
          () -> target.ask("beans").stream().collect(Collectors.joining()),
          beans -> beans.contains("Limit=3") && beans.contains("ThroughputPerS="));
      goesOn(target);
      target.attach(recorder.options());
      FakeRecorder.Session session = recorder.accept();
      ok(session.command(REMOVE));
      session.detach();
      leavesNothing(target);
    }
  }
}
