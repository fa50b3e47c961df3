package io.helenus.agent.sources;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The full Java names of the server's threads by their id in the kernel, which keeps 15 characters.
 *
 * <p>JFR knows which Java thread has which kernel id, but it keeps the name that a thread had when
 * it saw it first. Cassandra's stages share their workers and rename them as they go, so the names
 * are read from the threads themselves, at each flush, and those that changed are sent.
 */
final class ThreadNames {
  private static final byte THREAD_NAMES = 3;
  private static final int LONGEST_NAME = 256;
  private static final int FRAME_BYTES = 32 * 1024;

  private final Feed feed;
  private final Map<Long, Long> kernelIds = new HashMap<>();
  private final Map<Long, String> sent = new HashMap<>();

  ThreadNames(Feed feed) {
    this.feed = feed;
  }

  /** Which thread in the kernel a Java thread is. */
  void seen(long javaId, long kernelId) {
    if (javaId > 0 && kernelId > 0) {
      kernelIds.put(javaId, kernelId);
    }
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
