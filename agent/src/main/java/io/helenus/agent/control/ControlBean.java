package io.helenus.agent.control;

import io.helenus.agent.core.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.ReflectionException;

/**
 * The MBean of the one {@link Control} of this JVM. Agents of later attaches, each in a class
 * loader of its own and perhaps of another version, send their commands to it. Uses only JDK types.
 */
final class ControlBean implements DynamicMBean {
  /** Version of the commands; agents with another version are refused. */
  static final String VERSION = "1";

  private static final MBeanOperationInfo EXECUTE =
      new MBeanOperationInfo(
          "execute",
          "Executes a command; see agent/PROTOCOL.md.",
          new MBeanParameterInfo[] {
            new MBeanParameterInfo("command", String.class.getName(), "JSON")
          },
          String.class.getName(),
          MBeanOperationInfo.ACTION);

  private final Control control;
  private final MBeanServer server;
  private final ObjectName name;
  private final Consumer<String> log;
  private final Map<String, ObjectName> valves = new HashMap<>();
  private boolean isGone;

  /** Registers the MBean. Throws if another one is registered. */
  ControlBean(Control control, MBeanServer server, ObjectName name, Consumer<String> log)
      throws JMException {
    this.control = control;
    this.server = server;
    this.name = name;
    this.log = log;
    server.registerMBean(this, name);
    LoaderReferences.retain();
    control.afterLease(this::update);
  }

  /** Executes a command; null if the control has ended. */
  synchronized String execute(String command) {
    Object parsed;
    try {
      parsed = Json.parse(command);
    } catch (IllegalArgumentException e) {
      parsed = null;
    }
    if (!(parsed instanceof Map)) {
      return ControlClient.error("the command is no JSON object", "see agent/PROTOCOL.md");
    }
    Map<String, Object> reply = control.execute((Map<?, ?>) parsed);
    if (reply == null) {
      return null;
    }
    update();
    return Json.write(reply);
  }

  /** Adds and removes MBeans of valves. If no change is left, unregisters this MBean, too. */
  private synchronized void update() {
    try {
      registerValves();
      if (!isGone && control.endIfIdle()) {
        isGone = true;
        server.unregisterMBean(name);
        LoaderReferences.release();
      }
    } catch (Exception e) {
      log.accept("the MBeans of the valves were not updated: " + e);
    }
  }

  /** One MBean for each valve. */
  private void registerValves() throws JMException {
    Set<String> now = new TreeSet<>(control.valves().keySet());
    for (String gone : Set.copyOf(valves.keySet())) {
      if (!now.contains(gone)) {
        server.unregisterMBean(valves.remove(gone));
      }
    }
    for (String valve : now) {
      if (!valves.containsKey(valve)) {
        ObjectName bean = new ObjectName("io.helenus:type=Valve,name=" + ObjectName.quote(valve));
        server.registerMBean(new ValveBean(() -> control.valves().get(valve)), bean);
        valves.put(valve, bean);
      }
    }
  }

  @Override
  public Object getAttribute(String attribute) {
    return attribute.equals("Version") ? VERSION : null;
  }

  @Override
  public AttributeList getAttributes(String[] attributes) {
    AttributeList list = new AttributeList();
    for (String attribute : attributes) {
      list.add(new Attribute(attribute, getAttribute(attribute)));
    }
    return list;
  }

  @Override
  public Object invoke(String action, Object[] arguments, String[] signature)
      throws ReflectionException {
    if (!action.equals("execute") || arguments.length != 1) {
      throw new ReflectionException(new NoSuchMethodException(action));
    }
    return execute(String.valueOf(arguments[0]));
  }

  @Override
  public void setAttribute(Attribute attribute) {
    throw new UnsupportedOperationException("use execute");
  }

  @Override
  public AttributeList setAttributes(AttributeList attributes) {
    throw new UnsupportedOperationException("use execute");
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    MBeanAttributeInfo version =
        new MBeanAttributeInfo(
            "Version", String.class.getName(), "Of the commands.", true, false, false);
    return new MBeanInfo(
        ControlBean.class.getName(),
        "Valves, executors, probes and tunings in this JVM.",
        new MBeanAttributeInfo[] {version},
        null,
        new MBeanOperationInfo[] {EXECUTE},
        null);
  }
}
