package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ThreadNamesTest {
  private final Frames frames = new Frames();
  private final ThreadNames names = new ThreadNames(frames.feed("pauses"));

  private Map<Long, String> sent() {
    names.send();
    Map<Long, String> sent = new HashMap<>();
    for (byte[] payload : frames.others) {
      ByteBuffer in = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
      while (in.hasRemaining()) {
        long kernelId = in.getLong();
        byte[] name = new byte[in.getShort()];
        in.get(name);
        sent.put(kernelId, new String(name, StandardCharsets.UTF_8));
      }
    }
    frames.others.clear();
    return sent;
  }

  @Test
  void namesAreThoseOfNowAndSentWhenTheyChange() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    String name = "Native-Transport-Requests-100";
    Thread thread = new Thread(() -> await(end), name);
    thread.start();
    assertTrue(sent().isEmpty(), "nothing is known of the kernel's ids");
    Map<Long, String> inKernel = Map.of(4711L, "Native-Transpor", 4710L, "GC Thread#0");
    assertTrue(names.match(inKernel, new Thread[] {thread, null}));
    assertEquals(Map.of(4711L, name), sent());
    assertTrue(sent().isEmpty());
    thread.setName("MutationStage-2");
    assertEquals(Map.of(4711L, "MutationStage-2"), sent());
    end.countDown();
    thread.join();
    assertTrue(sent().isEmpty());
  }

  @Test
  void manyLongNamesTakeSeveralFrames() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Map<Long, String> expected = new HashMap<>();
    Map<Long, String> inKernel = new HashMap<>();
    Thread[] threads = new Thread[200];
    for (int i = 0; i < 200; i++) {
      Thread thread = new Thread(() -> await(end), "é".repeat(1_000) + i);
      thread.setDaemon(true);
      thread.start();
      threads[i] = thread;
      inKernel.put(10_000L + i, "\u00c3\u00a9".repeat(7) + "\u00c3");
      expected.put(10_000L + i, "é".repeat(256));
    }
    assertTrue(names.match(inKernel, threads));
    assertEquals(expected, sent());
    end.countDown();
  }

  @Test
  void threadsThatBeginAlikeAreInTheOrderInWhichTheyCame() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread[] threads = new Thread[3];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> await(end), "PerDiskMemtableFlushWriter_0:" + (i + 1));
      threads[i].start();
    }
    String name = "PerDiskMemtable";
    assertFalse(names.match(Map.of(90L, name, 20L, name), threads), "one has just begun");
    assertEquals(Map.of(), sent());
    assertTrue(names.match(Map.of(90L, name, 20L, name, 91L, name), threads));
    Map<Long, String> expected =
        Map.of(20L, threads[0].getName(), 90L, threads[1].getName(), 91L, threads[2].getName());
    assertEquals(expected, sent());
    end.countDown();
  }

  @Test
  void theNamesOfThisJvmAreRead() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Runnable work =
        () -> {
          begun.countDown();
          await(end);
        };
    Thread thread = new Thread(work, "a-name-that-is-longer-than-the-kernel-keeps");
    thread.start();
    // A thread sets its kernel name itself, before it runs its task.
    await(begun);
    names.read();
    assertTrue(sent().containsValue(thread.getName()));
    end.countDown();
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
