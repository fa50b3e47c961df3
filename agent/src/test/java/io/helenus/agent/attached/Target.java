package io.helenus.agent.attached;

import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A {@link Server} in a JVM of its own. */
final class Target implements AutoCloseable {
  static final String JAR = System.getProperty("helenus.agent.jar");

  private final Jdk jdk;
  private final Process process;
  private final Writer in;
  private final BufferedReader out;
  private final Path err;

  Target(Jdk jdk, String... jvmOptions) throws IOException {
    this.jdk = jdk;
    this.err = Files.createTempFile("helenus-agent-test", ".err");
    List<String> command =
        new ArrayList<>(
            List.of(
                jdk.tool("java").toString(),
                "-Xmx128m",
                // The optimizing compiler would take much of the time of these short-lived JVMs.
                "-XX:TieredStopAtLevel=1",
                "--add-opens",
                "java.management/sun.management=ALL-UNNAMED",
                "--add-opens",
                "java.management/javax.management=ALL-UNNAMED"));
    command.addAll(List.of(jvmOptions));
    command.addAll(List.of("-cp", "target/test-classes", Server.class.getName()));
    process = new ProcessBuilder(command).redirectError(err.toFile()).start();
    in = process.outputWriter();
    out = process.inputReader();
    try {
      readAnswer();
    } catch (IOException e) {
      String why = stderr();
      close();
      throw new IOException("the JVM did not start: " + why, e);
    }
  }

  long pid() {
    return process.pid();
  }

  void attach(String options) throws Exception {
    attach(Path.of(JAR), options);
  }

  /** Attaches the agent. Returns when it was started; it runs in a thread of its own. */
  void attach(Path jar, String options) throws Exception {
    VirtualMachine vm = VirtualMachine.attach(String.valueOf(process.pid()));
    try {
      vm.loadAgent(jar.toString(), options);
    } finally {
      vm.detach();
    }
  }

  /** Makes the server execute a command; returns its answer. */
  synchronized List<String> ask(String line) throws IOException {
    in.write(line + "\n");
    in.flush();
    return readAnswer();
  }

  private List<String> readAnswer() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = out.readLine(); ; line = out.readLine()) {
      if (line == null) {
        throw new IOException("the server has ended");
      }
      if (line.isEmpty()) {
        return lines;
      }
      lines.add(line);
    }
  }

  /** The target's standard error so far. */
  String stderr() throws IOException {
    return Files.readString(err);
  }

  void signal(String name) throws Exception {
    run("kill", "-" + name, String.valueOf(pid()));
  }

  String jcmd(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(jdk.tool("jcmd").toString());
    command.add(String.valueOf(pid()));
    command.addAll(List.of(arguments));
    return run(command.toArray(new String[0]));
  }

  static String run(String... command) throws Exception {
    Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(tool.getInputStream().readAllBytes());
    if (tool.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + output);
    }
    return output;
  }

  /** Everything that an agent could have left behind in the server. */
  List<String> traces() throws Exception {
    ask("gc");
    List<String> traces = new ArrayList<>();
    ask("threads").stream()
        .filter(name -> name.contains("helenus") || name.startsWith("JFR Event Stream"))
        .forEach(name -> traces.add("thread " + name));
    ask("classes").stream()
        .map(line -> line.replaceAll("[|\\-]", "").strip())
        .filter(name -> name.startsWith("io.helenus.agent."))
        .filter(name -> !name.startsWith(Server.class.getName()))
        .filter(name -> !name.startsWith("io.helenus.agent.Entry"))
        .filter(name -> !name.startsWith("io.helenus.agent.Hook"))
        .filter(name -> !name.startsWith(Work.class.getName()))
        .filter(name -> !name.startsWith(ClassBytes.class.getName()))
        .forEach(name -> traces.add("class " + name));
    ask("recordings").forEach(name -> traces.add("recording " + name));
    ask("logs").forEach(name -> traces.add("log " + name));
    ask("event types").forEach(name -> traces.add("event type " + name));
    ask("listeners").stream()
        .filter(count -> !count.equals("0"))
        .forEach(count -> traces.add("listeners " + count));
    ask("beans").forEach(name -> traces.add("bean " + name));
    ask("property").stream()
        .filter(value -> !value.equals("none"))
        .forEach(value -> traces.add("recorders " + value));
    // The JVM itself keeps the jar open once, on its class path.
    Set<String> connections = connections();
    openFiles().stream()
        .filter(file -> connections.contains(file) || file.equals(JAR))
        .sorted()
        .forEach(file -> traces.add("file " + file));
    traces.remove("file " + JAR);
    return traces;
  }

  /** TCP sockets in /proc/PID/fd; Unix sockets belong to the JVM itself. */
  private Set<String> connections() throws IOException {
    Set<String> sockets = new HashSet<>();
    for (String protocol : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid() + "/net/" + protocol))) {
        sockets.add("socket:[" + line.strip().split("\\s+")[9] + "]");
      }
    }
    return sockets;
  }

  private List<String> openFiles() throws IOException {
    try (Stream<Path> links = Files.list(Path.of("/proc/" + pid() + "/fd"))) {
      return links.map(Target::linked).collect(Collectors.toList());
    }
  }

  private static String linked(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (java.nio.file.NoSuchFileException e) {
      return "closed meanwhile";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      process.waitFor(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Files.deleteIfExists(err);
  }
}
