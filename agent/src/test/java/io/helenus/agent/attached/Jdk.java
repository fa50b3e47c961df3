package io.helenus.agent.attached;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A JDK on this machine that the agent supports. */
final class Jdk {
  /** Names a JDK that need not be installed. */
  private static final String JDK_11 = "HELENUS_TEST_JAVA_11";

  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

  final Path home;
  final int version;

  private Jdk(Path home, int version) {
    this.home = home;
    this.version = version;
  }

  /** The newest JDK of each version, including that of the tests. */
  static Stream<Jdk> all() {
    Map<Integer, Jdk> found = new TreeMap<>();
    Path installed = Path.of("/usr/lib/jvm");
    try (Stream<Path> folders =
        Files.isDirectory(installed) ? Files.list(installed) : Stream.<Path>empty()) {
      for (Path home : folders.sorted().collect(Collectors.toList())) {
        add(found, home);
      }
      add(found, Path.of(System.getProperty("java.home")));
      String eleven = System.getenv(JDK_11);
      if (eleven != null) {
        add(found, Path.of(eleven));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found.values().stream();
  }

  private static void add(Map<Integer, Jdk> found, Path home) throws IOException {
    Path release = home.resolve("release");
    if (Files.isExecutable(home.resolve("bin/jcmd")) && Files.isReadable(release)) {
      Matcher version = VERSION.matcher(Files.readString(release));
      if (version.find() && Integer.parseInt(version.group(1)) >= 11) {
        int number = Integer.parseInt(version.group(1));
        found.put(number, new Jdk(home, number));
      }
    }
  }

  Path tool(String name) {
    return home.resolve("bin").resolve(name);
  }

  @Override
  public String toString() {
    return "JDK " + version;
  }
}
