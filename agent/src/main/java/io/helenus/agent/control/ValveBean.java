package io.helenus.agent.control;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;

/**
 * The read-only MBean of one valve. Attributes of a window have the values of the last window that
 * ended.
 */
final class ValveBean implements DynamicMBean {
  /** Maps attributes to keys of the valve's state; keys of its last window begin with "last.". */
  private static final Map<String, String> ATTRIBUTES = new LinkedHashMap<>();

  static {
    ATTRIBUTES.put("Law", "law");
    ATTRIBUTES.put("State", "state");
    ATTRIBUTES.put("OpenReason", "open_reason");
    ATTRIBUTES.put("Limit", "limit");
    ATTRIBUTES.put("InFlight", "in_flight");
    ATTRIBUTES.put("Waiting", "waiting");
    ATTRIBUTES.put("ThroughputPerS", "last.throughput_per_s");
    ATTRIBUTES.put("Refused", "last.refused");
    ATTRIBUTES.put("LetThrough", "last.let_through");
    ATTRIBUTES.put("MeanNs", "last.mean_ns");
    ATTRIBUTES.put("WaitMeanNs", "last.wait_mean_ns");
    ATTRIBUTES.put("P50Ns", "last.p50_ns");
    ATTRIBUTES.put("P99Ns", "last.p99_ns");
    ATTRIBUTES.put("Reason", "last.reason");
  }

  private final Supplier<Map<String, Object>> state;

  ValveBean(Supplier<Map<String, Object>> state) {
    this.state = state;
  }

  @Override
  public Object getAttribute(String attribute) throws AttributeNotFoundException {
    String key = ATTRIBUTES.get(attribute);
    if (key == null) {
      throw new AttributeNotFoundException(attribute);
    }
    Map<String, Object> now = state.get();
    if (now == null || !key.startsWith("last.")) {
      return now == null ? null : now.get(key);
    }
    Object last = now.get("last");
    return last == null ? null : ((Map<?, ?>) last).get(key.substring("last.".length()));
  }

  @Override
  public AttributeList getAttributes(String[] attributes) {
    AttributeList list = new AttributeList();
    for (String attribute : attributes) {
      try {
        list.add(new Attribute(attribute, getAttribute(attribute)));
      } catch (AttributeNotFoundException e) {
        // The MBean interface requires that missing attributes are left out.
        continue;
      }
    }
    return list;
  }

  @Override
  public Object invoke(String action, Object[] arguments, String[] signature)
      throws ReflectionException {
    throw new ReflectionException(new NoSuchMethodException(action));
  }

  @Override
  public void setAttribute(Attribute attribute) {
    throw new UnsupportedOperationException("a valve is set by command");
  }

  @Override
  public AttributeList setAttributes(AttributeList attributes) {
    throw new UnsupportedOperationException("a valve is set by command");
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    MBeanAttributeInfo[] attributes =
        ATTRIBUTES.keySet().stream()
            .map(
                name ->
                    new MBeanAttributeInfo(
                        name, Object.class.getName(), ATTRIBUTES.get(name), true, false, false))
            .toArray(MBeanAttributeInfo[]::new);
    return new MBeanInfo(ValveBean.class.getName(), "A valve.", attributes, null, null, null);
  }
}
