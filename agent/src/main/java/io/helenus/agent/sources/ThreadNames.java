package io.helenus.agent.sources;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The full Java names of the server's threads by their id in the kernel, which keeps 15 bytes.
 *
 * <p>Nothing in Java says which thread in the kernel a Java thread is. But both number their
 * threads in the order in which they come, and a Java thread gives the kernel the begin of its
 * name: so the Java threads whose names begin so are those threads in the kernel, in the same
 * order. Where their numbers differ, since a thread comes or goes at that moment, it is looked
 * again at the next time.
 *
 * <p>Cassandra's stages share their workers and rename them as they go, so the names are read at
 * each look, and those that changed are sent.
 */
public final class ThreadNames extends Sample {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final byte THREAD_NAMES = 3;
  private static final int KERNEL_BYTES = 15;

  /** While the threads stay the same: those that the JVM did not start itself are never found. */
  private static final int MOST_LOOKS = 3;

  private static final int LONGEST_NAME = 256;
  private static final int FRAME_BYTES = 32 * 1024;

  /** The kernel's id of a Java thread, by the JVM's. */
  private final Map<Long, Long> kernelIds = new HashMap<>();

  private final Map<Long, String> sent = new HashMap<>();
  private Set<Long> tasksThen = Set.of();
  private int looksLeft;

  public ThreadNames(Feed feed) {
    super(feed);
  }

  @Override
  void read() throws IOException {
    Set<Long> tasks = tasks();
    if (!tasks.equals(tasksThen)) {
      tasksThen = new HashSet<>(tasks);
      looksLeft = MOST_LOOKS;
    }
    if (looksLeft > 0) {
      kernelIds.values().retainAll(tasks);
      tasks.removeAll(kernelIds.values());
      Map<Long, String> inKernel = new TreeMap<>();
      for (long task : tasks) {
        String name = inKernel(task);
        if (name != null) {
          inKernel.put(task, name);
        }
      }
      looksLeft = match(inKernel, liveThreads()) ? 0 : looksLeft - 1;
    }
    send();
  }

  private static Set<Long> tasks() throws IOException {
    Set<Long> tasks = new HashSet<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(TASKS)) {
      for (Path folder : folders) {
        tasks.add(Long.parseLong(folder.getFileName().toString()));
      }
    }
    return tasks;
  }

  /** The kernel's name for a thread; null when the thread has ended. */
  private static String inKernel(long task) {
    try {
      byte[] name = Files.readAllBytes(TASKS.resolve(task + "/comm"));
      return cut(name, name.length);
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Finds out which Java threads the threads in the kernel are.
   *
   * @param inKernel names that the kernel has, by its id
   * @return whether it knows of every Java thread
   */
  boolean match(Map<Long, String> inKernel, Thread[] live) {
    Map<String, List<Long>> kernels = new HashMap<>();
    new TreeMap<>(inKernel)
        .forEach((id, name) -> kernels.computeIfAbsent(name, key -> new ArrayList<>()).add(id));
    Map<String, List<Long>> javas = new HashMap<>();
    for (Thread thread : live) {
      // A thread that ended meanwhile is null.
      if (thread != null && !kernelIds.containsKey(thread.getId())) {
        javas.computeIfAbsent(cut(thread.getName()), key -> new ArrayList<>()).add(thread.getId());
      }
    }
    boolean all = true;
    for (Map.Entry<String, List<Long>> entry : javas.entrySet()) {
      List<Long> ours = entry.getValue();
      List<Long> theirs = kernels.getOrDefault(entry.getKey(), List.of());
      if (ours.size() == theirs.size()) {
        ours.sort(null);
        for (int at = 0; at < ours.size(); at++) {
          kernelIds.put(ours.get(at), theirs.get(at));
        }
      } else {
        all = false;
      }
    }
    return all;
  }

  /** As the kernel has it. */
  private static String cut(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return cut(bytes, Math.min(bytes.length, KERNEL_BYTES));
  }

  private static String cut(byte[] bytes, int length) {
    return new String(bytes, 0, length, StandardCharsets.ISO_8859_1).stripTrailing();
  }

  /** Sends the names that are new or have changed. */
  void send() {
    Map<Long, String> names = new HashMap<>();
    for (Thread thread : liveThreads()) {
      // A thread that ended meanwhile is null.
      if (thread != null && kernelIds.containsKey(thread.getId())) {
        names.put(thread.getId(), thread.getName());
      }
    }
    kernelIds.keySet().retainAll(names.keySet());
    sent.keySet().retainAll(names.keySet());
    ByteBuffer frame = frame();
    for (Map.Entry<Long, String> entry : names.entrySet()) {
      if (!entry.getValue().equals(sent.get(entry.getKey()))) {
        String cut =
            entry.getValue().substring(0, Math.min(entry.getValue().length(), LONGEST_NAME));
        byte[] name = cut.getBytes(StandardCharsets.UTF_8);
        if (frame.remaining() < Long.BYTES + Short.BYTES + name.length) {
          offer(frame);
          frame = frame();
        }
        frame.putLong(kernelIds.get(entry.getKey())).putShort((short) name.length).put(name);
        sent.put(entry.getKey(), entry.getValue());
      }
    }
    offer(frame);
  }

  private static ByteBuffer frame() {
    return ByteBuffer.allocate(FRAME_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0)
        .put(THREAD_NAMES);
  }

  private void offer(ByteBuffer frame) {
    int length = frame.position();
    if (length > Integer.BYTES + 1) {
      frame.putInt(0, length - Integer.BYTES);
      feed.offer(Arrays.copyOf(frame.array(), length));
    }
  }

  private static Thread[] liveThreads() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    Thread[] threads = new Thread[group.activeCount() + 64];
    group.enumerate(threads);
    return threads;
  }
}
