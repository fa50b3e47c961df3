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
 * Sends the full Java names of the server's threads with their kernel thread ids. The kernel keeps
 * only the first 15 bytes of a name.
 *
 * <p>Java does not expose kernel thread ids. But both ids grow in order of creation, and the
 * kernel's name is the start of the Java name. So the Java threads with a given start of their name
 * are the kernel threads of that name, in the same order. If the numbers of both differ, because a
 * thread starts or ends meanwhile, the next reading tries again.
 *
 * <p>Cassandra's stages share their workers and rename them, so every reading compares the names,
 * and sends those that changed.
 */
public final class ThreadNames extends SampledSource {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final byte THREAD_NAMES = 3;
  private static final int KERNEL_BYTES = 15;

  /** The number of attempts while the set of threads stays the same: native threads never match. */
  private static final int MAX_ATTEMPTS = 3;

  private static final int LONGEST_NAME = 256;
  private static final int FRAME_BYTES = 32 * 1024;

  /** Kernel thread ids by the JVM's thread id. */
  private final Map<Long, Long> kernelIds = new HashMap<>();

  private final Map<Long, String> sent = new HashMap<>();
  private Set<Long> knownTasks = Set.of();
  private int attemptsLeft;

  public ThreadNames(Feed feed) {
    super(feed);
  }

  @Override
  void read() throws IOException {
    Set<Long> tasks = tasks();
    if (!tasks.equals(knownTasks)) {
      knownTasks = new HashSet<>(tasks);
      attemptsLeft = MAX_ATTEMPTS;
    }
    if (attemptsLeft > 0) {
      kernelIds.values().retainAll(tasks);
      tasks.removeAll(kernelIds.values());
      Map<Long, String> inKernel = new TreeMap<>();
      for (long task : tasks) {
        String name = inKernel(task);
        if (name != null) {
          inKernel.put(task, name);
        }
      }
      attemptsLeft = match(inKernel, liveThreads()) ? 0 : attemptsLeft - 1;
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
   * Matches Java threads with kernel threads.
   *
   * @param inKernel the kernel's names by its thread id
   * @return whether every Java thread is matched
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

  /** A name cut to the bytes that the kernel keeps. */
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
