package io.helenus.agent.sources;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads the settings of the node, of its JVM and of its disks. */
final class NodeSettings {
  /**
   * Prefixes of the Cassandra settings that are recorded, from the agent's file {@code settings}.
   */
  private static final List<String> BEGINNINGS = beginnings();

  /** The most loggers with levels of their own that are recorded. */
  private static final int MOST_LOGGERS = 50;

  /** Receives a setting. */
  interface Sink {
    void setting(String name, String value, String source);
  }

  private NodeSettings() {}

  private static List<String> beginnings() {
    InputStream file =
        NodeSettings.class.getClassLoader().getResourceAsStream("io/helenus/agent/settings");
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(file, UTF_8))) {
      return lines.lines().filter(line -> !line.startsWith("#")).collect(Collectors.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void cassandra(Sink sink) throws ReflectiveOperationException {
    for (Map<?, ?> row : InternalQuery.rows("SELECT JSON name, value FROM system_views.settings")) {
      String name = String.valueOf(row.get("name"));
      if (row.get("value") != null && BEGINNINGS.stream().anyMatch(name::startsWith)) {
        sink.setting(name, String.valueOf(row.get("value")), "system_views.settings");
      }
    }
  }

  static void jvm(Sink sink) {
    String source = "java.lang.management";
    sink.setting("jvm.version", System.getProperty("java.version"), source);
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    sink.setting("jvm.heap_max_bytes", Long.toString(heap), source);
    sink.setting(
        "jvm.collectors",
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .collect(Collectors.joining(", ")),
        source);
    // System properties (-D) are left out because they can hold secrets; options of the JVM itself
    // can't.
    sink.setting(
        "jvm.options",
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("-X"))
            .collect(Collectors.joining(" ")),
        source);
    sink.setting(
        "machine.cpus", Integer.toString(Runtime.getRuntime().availableProcessors()), source);
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean) {
      OperatingSystemMXBean system =
          (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      sink.setting(
          "machine.memory_bytes", Long.toString(system.getTotalPhysicalMemorySize()), source);
    }
  }

  /** Explicit levels of loggers by name, such as {@code ROOT=INFO}. */
  static void logging(Sink sink) {
    Object levels = Cassandra.attribute(Cassandra.STORAGE_SERVICE, "LoggingLevels");
    if (levels instanceof Map) {
      String named =
          new TreeMap<>((Map<?, ?>) levels)
              .entrySet().stream()
                  .limit(MOST_LOGGERS)
                  .map(level -> level.getKey() + "=" + level.getValue())
                  .collect(Collectors.joining(", "));
      sink.setting("logging.levels", named, "StorageService");
    }
  }

  static void disks(Sink sink) {
    Object folders = Cassandra.attribute(Cassandra.STORAGE_SERVICE, "AllDataFileLocations");
    if (folders instanceof String[]) {
      for (String folder : (String[]) folders) {
        disk(Path.of(folder), sink);
      }
    }
  }

  private static void disk(Path folder, Sink sink) {
    try {
      FileStore store = Files.getFileStore(folder);
      sink.setting(
          "disk.total_bytes:" + folder, Long.toString(store.getTotalSpace()), "file system");
      sink.setting(
          "disk.usable_bytes:" + folder, Long.toString(store.getUsableSpace()), "file system");
      Path queue = queue((Long) Files.getAttribute(folder, "unix:dev"));
      for (String file : List.of("read_ahead_kb", "rotational", "scheduler")) {
        if (queue != null && Files.isReadable(queue.resolve(file))) {
          String value = Files.readString(queue.resolve(file)).trim();
          sink.setting("disk." + file + ":" + folder, value, "/sys/dev/block");
        }
      }
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      // The folder does not exist, or its file system does not reveal a device.
    }
  }

  /** The folder of a device's settings in /sys, or of the disk that contains a partition. */
  private static Path queue(long device) {
    // The encoding of glibc's gnu_dev_major and gnu_dev_minor.
    long major = ((device >>> 8) & 0xfff) | ((device >>> 32) & ~0xfffL);
    long minor = (device & 0xff) | ((device >>> 12) & ~0xffL);
    Path block = Path.of("/sys/dev/block", major + ":" + minor);
    for (Path queue : List.of(block.resolve("queue"), block.resolve("../queue"))) {
      if (Files.isDirectory(queue)) {
        return queue;
      }
    }
    return null;
  }
}
