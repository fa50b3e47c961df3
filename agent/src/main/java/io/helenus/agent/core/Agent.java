package io.helenus.agent.core;

import io.helenus.agent.recording.Tables;
import io.helenus.agent.sources.Cassandra;
import io.helenus.agent.sources.PauseProvider;
import java.io.EOFException;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.InetSocketAddress;
import java.net.ProtocolException;

/**
 * One agent: it finds its recorder, observes for it until it is told to stop or the recorder is
 * gone, undoes all it did, and ends.
 *
 * <p>It runs in one thread, "helenus-agent", which starts the others. Whatever goes wrong goes into
 * the log and ends the agent; it never reaches the server.
 */
public final class Agent {
  private static final String VERSION = "0.1.0";
  private static final long FIRST_BACK_OFF_MS = 500;
  private static final long LONGEST_BACK_OFF_MS = 15_000;
  private static final long FLUSH_MS = 2_000;

  private final Options options;
  private final Log log = new Log();

  private Agent(Options options) {
    this.options = options;
  }

  /** Called by {@link io.helenus.agent.Entry} in a class loader of this agent's own. */
  public static void start(String options, Instrumentation instrumentation) {
    Agent agent = new Agent(new Options(options));
    Thread thread = new Thread(agent::run, "helenus-agent");
    thread.setDaemon(true);
    // Inherited from a thread of the server otherwise.
    thread.setContextClassLoader(null);
    thread.start();
  }

  private void run() {
    try {
      findAndObserve();
    } catch (Throwable e) {
      log.line("ended by " + e);
    } finally {
      closeLoader();
    }
  }

  private void findAndObserve() throws Exception {
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
        + Json.quote(PauseProvider.best(options.withoutJfr()))
        + "}"
        + ",\"cassandra\":"
        + Json.quote(Cassandra.version())
        + "}";
  }

  private String address() {
    InetSocketAddress recorder = options.recorder();
    return recorder.getHostString() + ":" + recorder.getPort();
  }

  /** False if the recorder did not want this agent. */
  private boolean observe(Connection connection) throws IOException, InterruptedException {
    Connection.Frame first;
    try {
      first = connection.read();
    } catch (EOFException e) {
      return false;
    }
    Outbox outbox = new Outbox(connection.out());
    outbox.start();
    String bye = "detached";
    if (first.kind == Connection.START) {
      bye = Recorders.add(address());
      if (bye == null) {
        try {
          bye = observe(connection, outbox, Start.parse(first.text));
        } catch (IllegalArgumentException e) {
          bye = "protocol error: " + e.getMessage();
        } finally {
          Recorders.remove(address());
        }
      }
    }
    outbox.finish(Connection.frame(Connection.BYE, bye), FLUSH_MS);
    connection.close();
    outbox.abandon(FLUSH_MS);
    return true;
  }

  /** Observes until the end; returns what to say at parting. */
  private String observe(Connection connection, Outbox outbox, Start start) {
    log.to(outbox);
    Session session = new Session(start, outbox, log, options.withoutJfr());
    boolean recorderListens = true;
    try {
      session.start();
      boolean told = connection.read().kind == Connection.DETACH;
      return told ? "detached" : "protocol error: a second START";
    } catch (ProtocolException e) {
      return "protocol error: " + e.getMessage();
    } catch (IOException e) {
      recorderListens = false;
      return "the connection ended";
    } finally {
      session.stop(recorderListens);
      log.to(null);
    }
  }

  private void closeLoader() {
    try {
      ((AutoCloseable) Agent.class.getClassLoader()).close();
    } catch (Exception e) {
      log.line("cannot close the agent's jar: " + e);
    }
  }
}
