package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
    Thread thread =
        new Thread(
            () -> {
              try {
                end.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            name);
    thread.start();
    assertTrue(sent().isEmpty(), "nothing is known of the kernel's ids");
    names.seen(thread.getId(), 4711);
    names.seen(0, 4712);
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
    for (int i = 0; i < 200; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  end.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              },
              "é".repeat(1_000) + i);
      thread.setDaemon(true);
      thread.start();
      names.seen(thread.getId(), 10_000 + i);
      expected.put(10_000L + i, "é".repeat(256));
    }
    assertEquals(expected, sent());
    end.countDown();
  }
}
