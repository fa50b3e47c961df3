package io.helenus.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class OutboxTest {
  @Test
  void framesKeepTheirOrderAndTheLastOneEnds() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Outbox outbox = new Outbox(out);
    outbox.start();
    assertTrue(outbox.offer("one ".getBytes()));
    assertTrue(outbox.offer("two ".getBytes()));
    outbox.finish("bye".getBytes(), 20_000);
    assertEquals("one two bye", out.toString());
    assertFalse(outbox.sender().isAlive());
    assertFalse(outbox.offer("late".getBytes()));
  }

  @Test
  void aRecorderThatReadsNothingCostsABoundedQueue() throws Exception {
    CountDownLatch unblocked = new CountDownLatch(1);
    Outbox outbox =
        new Outbox(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                try {
                  unblocked.await();
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
              }
            });
    outbox.start();
    byte[] frame = new byte[100_000];
    int taken = 0;
    while (outbox.offer(frame)) {
      taken++;
    }
    assertTrue(taken > 10 && taken < 100, "frames taken: " + taken);
    assertFalse(outbox.offer(frame));
    unblocked.countDown();
    // Sent frames make room.
    while (!outbox.offer(frame)) {
      Thread.onSpinWait();
    }
    outbox.abandon(20_000);
    assertFalse(outbox.sender().isAlive());
  }
}
