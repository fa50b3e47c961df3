package io.helenus.agent.core;

import io.helenus.agent.control.ControlClient;
import io.helenus.agent.control.LoaderReferences;
import io.helenus.agent.control.ValvesFile;
import io.helenus.agent.points.HookAccess;
import io.helenus.agent.recording.Tables;
import io.helenus.agent.sources.Cassandra;
import io.helenus.agent.sources.PauseProvider;
import io.helenus.agent.valves.law.Laws;
import java.io.EOFException;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.InetSocketAddress;
import java.net.ProtocolException;

/**
 * One agent: connects to its recorder, observes, and runs the recorder's commands until the
 * recorder stops the agent or is gone. Then the agent undoes its changes and ends. Valves and
 * probes stay until they are removed ({@link ControlClient}).
 *
 * <p>The agent runs in one thread, "helenus-agent", which starts the others. A failure is logged
 * and ends the agent; no failure reaches the server.
 */
public final class Agent {
  private static final String VERSION = "0.1.0";
  private static final long FIRST_BACK_OFF_MS = 500;
  private static final long LONGEST_BACK_OFF_MS = 15_000;
  private static final long FLUSH_MS = 2_000;
  private static final String ENDED = "the connection ended";

  private final Options options;
  private final Log log = new Log();
  private final ControlClient control;

  private Agent(Options options, Instrumentation instrumentation) {
    this.options = options;
    this.control = new ControlClient(instrumentation, Laws::of, log::line);
  }

  /** Called by {@link io.helenus.agent.Entry} in a class loader of this agent's own. */
  public static void start(String options, Instrumentation instrumentation) {
    Agent agent = new Agent(new Options(options), instrumentation);
    // Load the class now: the recorder may delete the jar once this returns.
    HookAccess.hook();
    LoaderReferences.retain();
    Thread thread = new Thread(agent::run, "helenus-agent");
    thread.setDaemon(true);
    // Set explicitly, because it would be inherited from a thread of the server.
    thread.setContextClassLoader(null);
    thread.start();
  }

  /**
   * Observes in a JVM of its own until the recorder stops the agent or is gone.
   *
   * @throws IOException when no recorder can be reached
   */
  public static void observe(String options) throws IOException {
    Agent agent = new Agent(new Options(options), null);
    try {
      agent.findAndObserve();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      if (options.valves() != null) {
        new ValvesFile(options.valves(), control, log::line).add();
      }
      if (options.wantsRecorder()) {
        findAndObserve();
      }
    } catch (Throwable e) {
      log.line("ended by " + e);
    } finally {
      closeLoader();
    }
  }

  private void findAndObserve() throws IOException, InterruptedException {
    long backOffMs = FIRST_BACK_OFF_MS;
    while (true) {
      String why;
      try (Connection connection = connect()) {
        if (observe(connection)) {
          return;
        }
        why = "the recorder closed the connection, the token may be wrong";
      } catch (IOException e) {
        why = e.toString();
      }
      if (!options.patient()) {
        log.line("no recorder at " + address() + ": " + why);
        return;
      }
      Thread.sleep(backOffMs);
      backOffMs = Math.min(backOffMs * 2, LONGEST_BACK_OFF_MS);
    }
  }

  private Connection connect() throws IOException {
    return new Connection(options.recorder(), options.token(), this::hello);
  }

  private String hello() {
    return "{\"pid\":"
        + ProcessHandle.current().pid()
        + ",\"schema\":"
        + Json.quote(Tables.FINGERPRINT)
        + ",\"agent\":"
        + Json.quote(VERSION)
        + ",\"java\":"
        + Json.quote(System.getProperty("java.version"))
        + ",\"vm\":"
        + Json.quote(System.getProperty("java.vm.name"))
        + ",\"monotonic_ns\":"
        + System.nanoTime()
        + ",\"providers\":{\"pauses\":"
        + Json.quote(PauseProvider.best(options.withoutLog()))
        + "}"
        + ",\"cassandra\":"
        + Json.quote(Cassandra.version())
        + "}";
  }

  private String address() {
    InetSocketAddress recorder = options.recorder();
    return recorder.getHostString() + ":" + recorder.getPort();
  }

  /** False if the recorder rejected this agent. */
  private boolean observe(Connection connection) throws IOException, InterruptedException {
    Connection.Frame first;
    try {
      first = connection.read();
    } catch (EOFException e) {
      return false;
    }
    Outbox outbox = new Outbox(connection.out());
    outbox.start();
    log.to(outbox);
    String bye;
    try {
      bye = serve(connection, outbox, first);
    } catch (ProtocolException | IllegalArgumentException e) {
      bye = "protocol error: " + e.getMessage();
    } catch (IOException e) {
      bye = ENDED;
    } finally {
      log.to(null);
    }
    outbox.finish(Connection.frame(Connection.BYE, bye), FLUSH_MS);
    connection.close();
    outbox.abandon(FLUSH_MS);
    return true;
  }

  /** Serves the recorder until the end; returns the text of the last frame. */
  private String serve(Connection connection, Outbox outbox, Connection.Frame first)
      throws IOException {
    Connection.Frame frame = afterCommands(connection, outbox, first);
    if (frame.kind == Connection.DETACH) {
      return "detached";
    }
    String refusal = Recorders.add(address());
    if (refusal != null) {
      return refusal;
    }
    try {
      return observe(connection, outbox, Start.parse(frame.text));
    } finally {
      Recorders.remove(address());
    }
  }

  /** Answers commands; returns the first frame that is no command. */
  private Connection.Frame afterCommands(
      Connection connection, Outbox outbox, Connection.Frame first) throws IOException {
    Connection.Frame frame = first;
    while (frame.kind == Connection.COMMAND) {
      outbox.add(Connection.frame(Connection.REPLY, control.execute(frame.text)));
      frame = connection.read();
    }
    return frame;
  }

  /**
   * Observes until the end. Each START opens a new session, which sends the initial facts again.
   * Returns the last message to the recorder.
   */
  private String observe(Connection connection, Outbox outbox, Start first) throws IOException {
    Connection.Frame frame = observeOnce(connection, outbox, first);
    while (frame.kind == Connection.START) {
      Start next = Start.parse(frame.text);
      outbox.add(Connection.frame(Connection.BEGUN, ""));
      frame = observeOnce(connection, outbox, next);
    }
    return "detached";
  }

  /** Observes until a START or DETACH, which it returns. */
  private Connection.Frame observeOnce(Connection connection, Outbox outbox, Start start)
      throws IOException {
    Session session = new Session(start, outbox, log, options.withoutLog(), control);
    boolean recorderListens = false;
    try {
      session.start();
      Connection.Frame frame = afterCommands(connection, outbox, connection.read());
      recorderListens = true;
      return frame;
    } catch (ProtocolException e) {
      recorderListens = true;
      throw e;
    } finally {
      session.stop(recorderListens);
      if (!recorderListens) {
        LeftProfiler.stop(start.profilerFiles, log::line);
      }
    }
  }

  private void closeLoader() {
    try {
      LoaderReferences.release();
    } catch (Exception e) {
      log.line("cannot close the agent's jar: " + e);
    }
  }
}
