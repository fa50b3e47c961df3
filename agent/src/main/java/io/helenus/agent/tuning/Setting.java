package io.helenus.agent.tuning;

import io.helenus.agent.points.Nearest;
import io.helenus.agent.points.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A setting of this node that can be changed while it runs; a restart resets it. */
interface Setting {
  /** The name in the protocol. */
  String setting();

  /** The table, as {@code keyspace.table}; null for a setting of the whole node. */
  String table();

  /**
   * The current value: a whole number, or parameters by name. Values compare by equals.
   *
   * @throws Refusal when this node has no such setting
   */
  Object read();

  /**
   * Sets a value of the type that {@link #read} returns.
   *
   * @throws Refusal in the node's own words
   */
  void write(Object value);

  /** The schema's value, valid on all nodes; null if there is none or it can't be read. */
  default Object schema() {
    return null;
  }

  /** The setting that a command's {@code setting} and {@code table} name. */
  static Setting of(Map<?, ?> given) {
    String name = String.valueOf(given.get("setting"));
    Object table = given.get("table");
    if (name.equals(TableCompaction.NAME)) {
      if (table == null) {
        throw new Refusal("compaction is of a table", "name it, as keyspace.table");
      }
      return new TableCompaction(TableBean.of(String.valueOf(table)));
    }
    if (name.equals(RequestRate.NAME)) {
      return new RequestRate();
    }
    NumericSetting number = NumericSetting.of(name);
    if (number == null) {
      List<String> names = new ArrayList<>(NumericSetting.names());
      names.add(RequestRate.NAME);
      names.add(TableCompaction.NAME);
      throw new Refusal(
          "there is no setting " + name,
          Nearest.hint(name, names, "there are " + String.join(", ", names)));
    }
    return number;
  }

  /** Parameters by name, all values as text, in the order of the names. */
  static Map<String, String> named(Map<?, ?> given) {
    Map<String, String> named = new TreeMap<>();
    given.forEach((name, value) -> named.put(String.valueOf(name), String.valueOf(value)));
    return named;
  }
}
