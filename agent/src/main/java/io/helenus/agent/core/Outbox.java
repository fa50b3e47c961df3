package io.helenus.agent.core;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bounded queue of frames to the recorder, and the thread that sends them.
 *
 * <p>Adding a frame never blocks: when the recorder is too slow and the queue is full, the outbox
 * rejects the frame, and the frame's source counts the loss.
 */
public final class Outbox {
  private static final long CAPACITY_BYTES = 4 * 1024 * 1024;
  private static final byte[] END = new byte[0];

  private final LinkedBlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final OutputStream out;
  private final Thread sender = new Thread(this::send, "helenus-agent-sender");
  private volatile boolean closed;

  Outbox(OutputStream out) {
    this.out = new BufferedOutputStream(out, 64 * 1024);
    sender.setDaemon(true);
    sender.setContextClassLoader(null);
  }

  void start() {
    sender.start();
  }

  /** Queues a whole frame with its length prefix; false if the queue is full. */
  public boolean offer(byte[] frame) {
    if (closed) {
      return false;
    }
    if (queuedBytes.addAndGet(frame.length) > CAPACITY_BYTES) {
      queuedBytes.addAndGet(-frame.length);
      return false;
    }
    return queue.offer(frame);
  }

  /** Queues a frame that must not be lost, even beyond the bound. */
  void add(byte[] frame) {
    queuedBytes.addAndGet(frame.length);
    queue.add(frame);
  }

  /** The sending thread, to measure its CPU time. */
  Thread sender() {
    return sender;
  }

  /** Sends queued frames and then this one, and ends the thread. Gives up after the timeout. */
  void finish(byte[] last, long timeoutMs) throws InterruptedException {
    closed = true;
    queue.add(last);
    queue.add(END);
    sender.join(timeoutMs);
  }

  /** Ends the thread. Call it after the connection is closed, which ends a write that hangs. */
  void abandon(long timeoutMs) throws InterruptedException {
    closed = true;
    sender.interrupt();
    sender.join(timeoutMs);
  }

  private void send() {
    try {
      for (byte[] frame = queue.take(); frame != END; frame = next()) {
        out.write(frame);
        queuedBytes.addAndGet(-frame.length);
      }
      out.flush();
    } catch (IOException | InterruptedException e) {
      // The reader of the connection also notices its end, and ends the session.
      closed = true;
    }
  }

  private byte[] next() throws IOException, InterruptedException {
    byte[] frame = queue.poll();
    if (frame == null) {
      out.flush();
      frame = queue.take();
    }
    return frame;
  }
}
