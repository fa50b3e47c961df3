package io.helenus.agent.valves;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * How fast the CPUs are: one small piece of work, by the CPU time that the calling thread takes for
 * it. What another guest of the host takes of a core that both run on shows here, and in no count
 * of stolen time.
 *
 * <p>The piece is unpacked by the JDK's zlib: compiled code, which no JIT makes faster, with the
 * tables and branches of what a server does, out of memory that no collection waits for.
 */
final class CpuSpeed {
  private static final int PLAIN_BYTES = 2048;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final boolean measures = threads.isCurrentThreadCpuTimeSupported();
  private final Inflater inflater = new Inflater();
  private final ByteBuffer packed;
  private final ByteBuffer plain = ByteBuffer.allocateDirect(PLAIN_BYTES);

  CpuSpeed() {
    StringBuilder text = new StringBuilder();
    for (int word = 1; text.length() < PLAIN_BYTES; word = word * 61 % 1009) {
      text.append(Integer.toString(word, 36)).append(' ');
    }
    for (int i = 0; i < PLAIN_BYTES; i++) {
      plain.put((byte) text.charAt(i));
    }
    Deflater deflater = new Deflater();
    deflater.setInput(plain.flip());
    deflater.finish();
    packed = ByteBuffer.allocateDirect(2 * PLAIN_BYTES);
    deflater.deflate(packed);
    deflater.end();
    packed.flip();
  }

  /** How often the calling thread could do it in a second; 0 where its time is not known. */
  double read() {
    if (!measures) {
      return 0;
    }
    long beforeNs = threads.getCurrentThreadCpuTime();
    inflater.reset();
    inflater.setInput(packed.rewind());
    try {
      inflater.inflate(plain.clear());
    } catch (DataFormatException e) {
      throw new IllegalStateException("what was packed here does not unpack", e);
    }
    return 1e9 / Math.max(1, threads.getCurrentThreadCpuTime() - beforeNs);
  }

  void end() {
    inflater.end();
  }
}
