package io.helenus.agent.sources;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** How the node, its JVM and its disks are set up. */
final class NodeSettings {
  /**
   * The settings of Cassandra that say something of performance, by how their names begin: 4.0 has
   * the unit behind many of them. None of them holds a secret.
   */
  private static final List<String> BEGINNINGS =
      List.of(
          "batch_size_",
          "cdc_enabled",
          "column_index_",
          "commitlog_sync",
          "compaction_throughput",
          "concurrent_",
          "counter_cache_size",
          "default_compaction",
          "disk_access_mode",
          "disk_optimization_strategy",
          "dynamic_snitch",
          "endpoint_snitch",
          "file_cache_",
          "hinted_handoff_enabled",
          "hint_window_persistent_enabled",
          "key_cache_size",
          "max_hint_window",
          "memtable_",
          "native_transport_max_",
          "num_tokens",
          "partitioner",
          "range_request_timeout",
          "read_request_timeout",
          "row_cache_size",
          "sstable_preemptive_open_interval",
          "stream_throughput_outbound",
          "tombstone_",
          "trickle_fsync",
          "write_request_timeout");

  /** Takes a setting. */
  interface Sink {
    void setting(String name, String value, String source);
  }

  private NodeSettings() {}

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
    // System properties (-D) can hold secrets, options of the JVM itself can't.
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
      for (String file : List.of("read_ahead_kb", "rotational")) {
        if (queue != null && Files.isReadable(queue.resolve(file))) {
          String value = Files.readString(queue.resolve(file)).trim();
          sink.setting("disk." + file + ":" + folder, value, "/sys/dev/block");
        }
      }
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      // A folder that is not there, or a file system that says nothing of its device.
    }
  }

  /** Where the kernel keeps the settings of a device, or of the disk that a partition is of. */
  private static Path queue(long device) {
    // As glibc's gnu_dev_major and gnu_dev_minor take it apart.
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
