package io.helenus.agent.sources;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Source {@code pauses} from the JVM's unified log (JEP 158): all safepoints and the pauses of the
 * collectors, exact to some microseconds between the end of a pause and its line.
 *
 * <p>The JVM writes some hundred bytes for each pause into a file in memory if there is such a file
 * system, because a slow disk would lengthen the pause. The file is unlinked once it is open, so
 * that nothing is left of it however the JVM ends. The server's own logs stay as they are.
 */
final class PauseLog extends SampledSource implements Source {
  private static final Path MEMORY = Path.of("/dev/shm");

  /** The file is emptied when it has this size. */
  private static final long MOST_BYTES = 4 << 20;

  private static final int READ_BYTES = 64 * 1024;
  private static final String[] SIGNATURE = {String[].class.getName()};

  private final PauseLines lines;
  private final ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
  private final StringBuilder partialLine = new StringBuilder();
  private String output;
  private FileChannel file;
  private long position;

  PauseLog(Feed feed) {
    super(feed);
    lines = new PauseLines(feed, collectors());
  }

  private static String collectors() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .map(GarbageCollectorMXBean::getName)
        .collect(Collectors.joining(", "));
  }

  static boolean isAvailable() {
    try {
      return ManagementFactory.getPlatformMBeanServer().isRegistered(commands());
    } catch (JMException | RuntimeException e) {
      return false;
    }
  }

  private static ObjectName commands() throws JMException {
    return new ObjectName("com.sun.management:type=DiagnosticCommand");
  }

  @Override
  public Feed feed() {
    return feed;
  }

  @Override
  public void start() throws IOException, JMException {
    Path folder = folder();
    try {
      Path path = folder.resolve("pauses");
      output = "file=" + path;
      // ZGC logs its pauses as phases of a collection.
      String what =
          "safepoint=info,gc=info" + (collectors().contains("ZGC") ? ",gc+phases=info" : "");
      configure("what=" + what, "decorators=timenanos", "output_options=filecount=0");
      try {
        file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Files.delete(path);
      } catch (IOException e) {
        configure("what=all=off");
        throw e;
      }
    } finally {
      Files.deleteIfExists(folder.resolve("pauses"));
      Files.delete(folder);
    }
  }

  private static Path folder() throws IOException {
    var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    return Files.isWritable(MEMORY)
        ? Files.createTempDirectory(MEMORY, "helenus", ours)
        : Files.createTempDirectory("helenus", ours);
  }

  /** Configures what the JVM logs to the file. */
  private void configure(String... how) throws IOException, JMException {
    String[] arguments = new String[how.length + 1];
    arguments[0] = "output=\"" + output + '"';
    System.arraycopy(how, 0, arguments, 1, how.length);
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Object answer = server.invoke(commands(), "vmLog", new Object[] {arguments}, SIGNATURE);
    if (answer != null && !answer.toString().isBlank()) {
      throw new IOException("the JVM says: " + answer.toString().strip());
    }
  }

  @Override
  void read() throws IOException {
    for (int bytes = file.read(buffer, position); bytes > 0; bytes = file.read(buffer, position)) {
      position += bytes;
      take(StandardCharsets.ISO_8859_1.decode(buffer.flip()));
      buffer.clear();
    }
    lines.expire();
    if (position > MOST_BYTES && file.size() == position) {
      file.truncate(0);
      position = 0;
    }
  }

  private void take(CharSequence text) {
    partialLine.append(text);
    int begin = 0;
    for (int end = partialLine.indexOf("\n"); end >= 0; end = partialLine.indexOf("\n", begin)) {
      lines.take(partialLine.substring(begin, end));
      begin = end + 1;
    }
    partialLine.delete(0, begin);
  }

  /** The sampler has stopped reading at this point. */
  @Override
  public void stop(boolean drain) throws IOException, JMException {
    configure("what=all=off");
    read();
    lines.end();
    feed.flush();
    file.close();
  }
}
