package io.helenus.agent.core;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.management.ObjectName;

/**
 * Stops a profiler whose recorder was killed.
 *
 * <p>The recorder loads the profiler's library over the attach protocol and removes the file. The
 * library stays mapped, so the JVM loads it again by its name alone.
 */
final class LeftProfiler {
  private static final String LIBRARY = "/tmp/.helenus-profiler-";
  private static final String DELETED = " (deleted)";

  private LeftProfiler() {}

  /**
   * Does nothing unless a profiler writes one of the recorder's files.
   *
   * @param files the begin of their names in /tmp; null for none
   */
  static void stop(String files, Consumer<String> log) {
    try {
      String library = files != null && isWritten("/tmp/" + files) ? library() : null;
      if (library != null) {
        // In quotes, because the command's parser takes the text before = for a name.
        String[] arguments = {library, "\"stop,loglevel=none\""};
        ManagementFactory.getPlatformMBeanServer()
            .invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "jvmtiAgentLoad",
                new Object[] {arguments},
                new String[] {String[].class.getName()});
      }
    } catch (Exception e) {
      log.accept("the profiler of a recorder that has ended goes on for minutes: " + e);
    }
  }

  /** Whether this process has a file open whose name begins like this. */
  private static boolean isWritten(String begin) throws IOException {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        try {
          if (Files.readSymbolicLink(descriptor).toString().startsWith(begin)) {
            return true;
          }
        } catch (IOException e) {
          // The server has just closed it.
          continue;
        }
      }
    }
    return false;
  }

  /** The path by which the library was loaded; null if no profiler is loaded. */
  private static String library() throws IOException {
    try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
      return mappings
          .filter(line -> line.contains(LIBRARY))
          .map(line -> line.substring(line.indexOf(LIBRARY)))
          .map(path -> path.endsWith(DELETED) ? path.replace(DELETED, "") : path)
          .findFirst()
          .orElse(null);
    }
  }
}
