package io.helenus.agent.sources;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The compactions that run at a moment, summed by table. */
final class Compactions {
  private static final String MANAGER = "org.apache.cassandra.db:type=CompactionManager";
  static final Compactions NONE = new Compactions();

  long running;
  long bytes;
  long bytesDone;

  /** Sums by {@code keyspace.table}. */
  static Map<String, Compactions> now() {
    Map<String, Compactions> byTable = new HashMap<>();
    Object running = Cassandra.attribute(MANAGER, "Compactions");
    if (running instanceof List) {
      for (Object task : (List<?>) running) {
        if (task instanceof Map) {
          add((Map<?, ?>) task, byTable);
        }
      }
    }
    return byTable;
  }

  private static void add(Map<?, ?> task, Map<String, Compactions> byTable) {
    String table = task.get("keyspace") + "." + task.get("columnfamily");
    Compactions sum = byTable.computeIfAbsent(table, name -> new Compactions());
    sum.running++;
    if ("bytes".equals(task.get("unit"))) {
      sum.bytes += number(task.get("total"));
      sum.bytesDone += number(task.get("completed"));
    }
  }

  private static long number(Object text) {
    try {
      return Long.parseLong(String.valueOf(text));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
