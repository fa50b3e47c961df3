package io.helenus.agent.control;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.valves.LawMaker;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.util.function.Consumer;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Takes commands to the resident. The first that is asked for anything becomes the resident itself,
 * and lives on in its class loader after its connection has ended.
 */
public final class Relay {
  private static final String NAME = "io.helenus:type=Control";
  private static final String[] TAKES_TEXT = {String.class.getName()};

  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final Instrumentation instrumentation;
  private final LawMaker laws;
  private final Consumer<String> log;

  /**
   * @param log where the resident's lines go; it has to outlive the connection
   */
  public Relay(Instrumentation instrumentation, LawMaker laws, Consumer<String> log) {
    this.instrumentation = instrumentation;
    this.laws = laws;
    this.log = log;
  }

  /** The reply to a command. */
  public String execute(String command) {
    try {
      ObjectName name = new ObjectName(NAME);
      while (true) {
        String reply = ask(name, command);
        if (reply != null) {
          return reply;
        }
        become(name);
      }
    } catch (Refusal e) {
      return error(e.getMessage(), e.hint);
    } catch (JMException | RuntimeException e) {
      return error("this JVM can't be controlled: " + e, "see the log of the server");
    }
  }

  private void become(ObjectName name) throws JMException {
    // The one lock that the agents of all class loaders see.
    synchronized (server) {
      if (!server.isRegistered(name)) {
        Control control = new Control(instrumentation, laws, log);
        try {
          new ControlBean(control, server, name, log);
        } catch (JMException | RuntimeException e) {
          control.endIfIdle();
          throw e;
        }
      }
    }
  }

  /** The reply of the resident; null if there is none. */
  public String ask(String command) {
    try {
      return ask(new ObjectName(NAME), command);
    } catch (Refusal e) {
      return error(e.getMessage(), e.hint);
    } catch (JMException | RuntimeException e) {
      return error("the resident agent does not answer: " + e, "see the log of the server");
    }
  }

  private String ask(ObjectName name, String command) throws JMException {
    try {
      Object version = server.getAttribute(name, "Version");
      if (!ControlBean.VERSION.equals(version)) {
        throw new Refusal(
            "valves, probes or tunings of an agent of another version are in this JVM (its commands are"
                + " version "
                + version
                + ", these "
                + ControlBean.VERSION
                + ")",
            "remove them with the helenus that set them, then try again");
      }
      return (String) server.invoke(name, "execute", new Object[] {command}, TAKES_TEXT);
    } catch (InstanceNotFoundException e) {
      return null;
    }
  }

  static String error(String why, String hint) {
    return "{\"error\":" + Json.quote(why) + ",\"hint\":" + Json.quote(hint) + "}";
  }
}
