package io.helenus.agent.tuning;

import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Refusal;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;

/** A table of this node and its MBean. */
public final class TableBean {
  private static final String TYPE = "org.apache.cassandra.db:type=Tables,";

  public final String keyspace;
  public final String table;
  public final ObjectName bean;

  private TableBean(String keyspace, String table, ObjectName bean) {
    this.keyspace = keyspace;
    this.table = table;
    this.bean = bean;
  }

  /** Returns null if this node has no such table. */
  static TableBean find(String name) {
    // Other characters could turn the object name into a pattern.
    if (!name.matches("\\w+\\.\\w+")) {
      return null;
    }
    String[] parts = name.split("\\.");
    ObjectName bean = Beans.name(TYPE + "keyspace=" + parts[0] + ",table=" + parts[1]);
    return Beans.SERVER.isRegistered(bean) ? new TableBean(parts[0], parts[1], bean) : null;
  }

  /**
   * @param name as {@code keyspace.table}
   * @throws Refusal naming similar tables if there is no such table
   */
  public static TableBean of(String name) {
    TableBean store = find(name);
    if (store != null) {
      return store;
    }
    List<String> names = new ArrayList<>();
    for (ObjectName bean : Beans.SERVER.queryNames(Beans.name(TYPE + "keyspace=*,table=*"), null)) {
      names.add(bean.getKeyProperty("keyspace") + "." + bean.getKeyProperty("table"));
    }
    throw new Refusal(
        "this node has no table " + name,
        names.isEmpty()
            ? "it has no table at all: is it a Cassandra, and is it up?"
            : Nearest.hint(name, names, "name it as keyspace.table"));
  }

  @Override
  public String toString() {
    return keyspace + "." + table;
  }
}
