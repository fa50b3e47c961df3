package io.helenus.agent.control;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.valves.LawFactory;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.util.function.Consumer;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Sends commands to this JVM's {@link ControlBean}, which may belong to an agent of an earlier
 * attach. If there is none, this agent registers it and stays loaded until nothing is changed any
 * more, also after its connection has ended.
 */
public final class ControlClient {
  private static final String NAME = "io.helenus:type=Control";
  private static final String[] TAKES_TEXT = {String.class.getName()};

  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final Instrumentation instrumentation;
  private final LawFactory laws;
  private final Consumer<String> log;

  /**
   * @param log for lines of the control that is created here; must work after the connection ended
   */
  public ControlClient(Instrumentation instrumentation, LawFactory laws, Consumer<String> log) {
    this.instrumentation = instrumentation;
    this.laws = laws;
    this.log = log;
  }

  /** Executes a command and returns the reply. Creates the control if there is none. */
  public String execute(String command) {
    try {
      ObjectName name = new ObjectName(NAME);
      while (true) {
        String reply = ask(name, command);
        if (reply != null) {
          return reply;
        }
        create(name);
      }
    } catch (Refusal e) {
      return error(e.getMessage(), e.hint);
    } catch (JMException | RuntimeException e) {
      return error("this JVM can't be controlled: " + e, "see the log of the server");
    }
  }

  private void create(ObjectName name) throws JMException {
    // The only lock that agents in all class loaders share.
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

  /** Executes a command and returns the reply; null if there is no control. */
  public String ask(String command) {
    try {
      return ask(new ObjectName(NAME), command);
    } catch (Refusal e) {
      return error(e.getMessage(), e.hint);
    } catch (JMException | RuntimeException e) {
      return error(
          "the agent that holds the changes does not answer: " + e, "see the log of the server");
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
