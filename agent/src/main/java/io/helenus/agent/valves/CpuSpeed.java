package io.helenus.agent.valves;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Measures the speed of the CPUs: the CPU time that the calling thread takes for one small piece of
 * work. Contention with another guest for a shared core shows here, and not in steal time.
 *
 * <p>The work is to decompress a buffer with the JDK's zlib: native code, which the JIT doesn't
 * change, with table look-ups and branches like those of a server, in memory outside the heap.
 */
final class CpuSpeed implements AutoCloseable {
  private static final int PLAIN_BYTES = 2048;

  /** Number of warm-up readings, until the JIT has compiled the calling code. */
  private static final int COLD = 500;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Inflater inflater = new Inflater();
  private ByteBuffer packed;
  private ByteBuffer plain;

  /** False where it cannot be measured, or could not once: valves go on without. */
  private boolean works;

  CpuSpeed() {
    try {
      works = threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
      pack();
      for (int i = 0; i < COLD; i++) {
        read();
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      works = false;
    }
  }

  private void pack() {
    StringBuilder text = new StringBuilder();
    for (int word = 1; text.length() < PLAIN_BYTES; word = word * 61 % 1009) {
      text.append(Integer.toString(word, 36)).append(' ');
    }
    plain = ByteBuffer.allocateDirect(PLAIN_BYTES);
    for (int i = 0; i < PLAIN_BYTES; i++) {
      plain.put((byte) text.charAt(i));
    }
    packed = ByteBuffer.allocateDirect(PLAIN_BYTES);
    Deflater deflater = new Deflater();
    deflater.setInput(plain.flip());
    deflater.finish();
    deflater.deflate(packed);
    deflater.end();
    packed.flip();
  }

  /** How often the calling thread could do it in a second of CPU time; 0 where that isn't known. */
  double read() {
    if (!works) {
      return 0;
    }
    try {
      long beforeNs = threads.getCurrentThreadCpuTime();
      inflater.reset();
      inflater.setInput(packed.rewind());
      inflater.inflate(plain.clear());
      return 1e9 / Math.max(1, threads.getCurrentThreadCpuTime() - beforeNs);
    } catch (DataFormatException | RuntimeException e) {
      works = false;
      return 0;
    }
  }

  @Override
  public void close() {
    inflater.end();
  }
}
