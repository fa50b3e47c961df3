package io.helenus.agent.remote;

import io.helenus.agent.core.Agent;
import io.helenus.agent.sources.Mbeans;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * The agent outside of the node's JVM: a JVM of its own, which reads the same MBeans over JMX and
 * sends the recorder the same data. The JVM ends with its connection to the recorder.
 *
 * <p>The standard input has, one a line: {@code HOST:PORT} of JMX, the agent's options, and if JMX
 * requires them a user and a password. None of these appears in the list of processes.
 */
public final class RemoteNode {
  private RemoteNode() {}

  public static void main(String[] none) throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String endpoint = input.readLine();
    String options = input.readLine();
    String user = input.readLine();
    Map<String, Object> environment = new HashMap<>();
    if (user != null && !user.isEmpty()) {
      environment.put(JMXConnector.CREDENTIALS, new String[] {user, input.readLine()});
    }
    JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + endpoint + "/jmxrmi");
    try (JMXConnector connector = JMXConnectorFactory.connect(url, environment)) {
      Mbeans.readFrom(connector.getMBeanServerConnection());
      Agent.observe(options + ",pauses=mxbean");
    } catch (IOException | SecurityException e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      System.err.println(cause.getMessage() == null ? cause.toString() : cause.getMessage());
      System.exit(2);
    }
    // RMI keeps threads running, so the JVM is ended explicitly.
    System.exit(0);
  }
}
