package io.helenus.agent.tuning;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.util.Map;
import javax.management.JMException;

/**
 * The compaction parameters of a table on this node alone: they override those of the schema until
 * the schema's are altered, or the node restarts.
 */
final class TableCompaction implements Setting {
  static final String NAME = "compaction";
  private static final String PARAMETERS = "CompactionParametersJson";
  private static final String ENABLED = "enabled";
  private static final String[] OF_TABLES = {String.class.getName(), String[].class.getName()};

  private final TableBean store;

  TableCompaction(TableBean store) {
    this.store = store;
  }

  @Override
  public String setting() {
    return NAME;
  }

  @Override
  public String table() {
    return store.toString();
  }

  @Override
  public Object read() {
    Object parsed = Json.parse(String.valueOf(Beans.get(store.bean, PARAMETERS)));
    return parameters(parsed);
  }

  @Override
  public void write(Object value) {
    Map<String, String> parameters = parameters(value);
    boolean wasDisabledByHand = isDisabled() && isEnabled(parameters(read()));
    Beans.set(store.bean, PARAMETERS, Json.write(parameters));
    if (!isEnabled(parameters)) {
      return;
    }
    // Setting the parameters enables compaction, even if an operator has disabled it, and they take
    // effect only after the next flush.
    tell(wasDisabledByHand ? "disableAutoCompaction" : "enableAutoCompaction");
  }

  @Override
  public Object schema() {
    return SchemaReader.compaction(store);
  }

  private boolean isDisabled() {
    return Boolean.TRUE.equals(Beans.get(store.bean, "AutoCompactionDisabled"));
  }

  private static boolean isEnabled(Map<String, String> parameters) {
    return !"false".equalsIgnoreCase(parameters.get(ENABLED));
  }

  private void tell(String operation) {
    Object[] tables = {store.keyspace, new String[] {store.table}};
    try {
      Beans.SERVER.invoke(Beans.name(Beans.STORAGE), operation, tables, OF_TABLES);
    } catch (JMException | RuntimeException e) {
      throw new Refusal(operation + " of " + store + " failed: " + e, "see the log of the node");
    }
  }

  /** The parameters by name, with all values as text. */
  static Map<String, String> parameters(Object value) {
    if (!(value instanceof Map)) {
      throw new Refusal(
          "compaction is " + Json.write(value), "give parameters by name, with a class");
    }
    return Setting.named((Map<?, ?>) value);
  }
}
