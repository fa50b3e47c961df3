package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/** Reads the definitions of the tables, and when each was last repaired. */
final class TableFacts {
  /**
   * The most repair sessions that are read: subrange repair makes many, and they are not sorted by
   * time.
   */
  private static final int SESSIONS = 5_000;

  /** Receives a fact. */
  interface Sink {
    void fact(String keyspace, String table, String fact, String value, String source);
  }

  private TableFacts() {}

  static void schema(Sink sink) throws ReflectiveOperationException {
    keyspaces(sink);
    options(sink);
    columns(sink);
    indexes(sink);
    views(sink);
  }

  private static void keyspaces(Sink sink) throws ReflectiveOperationException {
    String source = "system_schema.keyspaces";
    for (Map<?, ?> row : rows("SELECT JSON keyspace_name, replication FROM " + source)) {
      sink.fact(text(row, "keyspace_name"), "", "replication", text(row, "replication"), source);
    }
  }

  private static void options(Sink sink) throws ReflectiveOperationException {
    String source = "system_schema.tables";
    for (Map<?, ?> row : rows("SELECT JSON * FROM " + source)) {
      String keyspace = text(row, "keyspace_name");
      String table = text(row, "table_name");
      for (Object option : row.keySet()) {
        String name = String.valueOf(option);
        if (!List.of("keyspace_name", "table_name", "extensions", "comment").contains(name)
            && row.get(option) != null) {
          sink.fact(keyspace, table, name, text(row, name), source);
        }
      }
    }
  }

  private static void columns(Sink sink) throws ReflectiveOperationException {
    String source = "system_schema.columns";
    Map<String, List<Map<?, ?>>> byTable =
        rows(
                "SELECT JSON keyspace_name, table_name, column_name, kind, position,"
                    + " clustering_order, type FROM "
                    + source)
            .stream()
            .collect(
                Collectors.groupingBy(
                    row -> text(row, "keyspace_name") + "." + text(row, "table_name"),
                    TreeMap::new,
                    Collectors.toList()));
    for (List<Map<?, ?>> columns : byTable.values()) {
      columns.sort(Comparator.comparingLong(row -> ((Number) row.get("position")).longValue()));
      String keyspace = text(columns.get(0), "keyspace_name");
      String table = text(columns.get(0), "table_name");
      sink.fact(keyspace, table, "partition_key", list(columns, "partition_key"), source);
      sink.fact(keyspace, table, "clustering", list(columns, "clustering"), source);
      sink.fact(keyspace, table, "columns", list(columns, "regular"), source);
    }
  }

  /** The columns of a kind with their types, and the clustering order if there is one. */
  private static String list(List<Map<?, ?>> columns, String kind) {
    return columns.stream()
        .filter(row -> text(row, "kind").equals(kind))
        .map(
            row -> {
              String order = text(row, "clustering_order");
              String column = text(row, "column_name") + " " + text(row, "type");
              return order.equals("none") ? column : column + " " + order;
            })
        .collect(Collectors.joining(", "));
  }

  private static void indexes(Sink sink) throws ReflectiveOperationException {
    String source = "system_schema.indexes";
    for (Map<?, ?> row : rows("SELECT JSON * FROM " + source)) {
      sink.fact(
          text(row, "keyspace_name"),
          text(row, "table_name"),
          "index " + text(row, "index_name"),
          text(row, "kind") + " " + text(row, "options"),
          source);
    }
  }

  private static void views(Sink sink) throws ReflectiveOperationException {
    String source = "system_schema.views";
    for (Map<?, ?> row :
        rows("SELECT JSON keyspace_name, view_name, base_table_name FROM " + source)) {
      sink.fact(
          text(row, "keyspace_name"),
          text(row, "view_name"),
          "view_of",
          text(row, "base_table_name"),
          source);
    }
  }

  /**
   * The compaction parameters in force on the node, which an operator can change on one node only.
   */
  static void inForce(Sink sink) {
    try {
      ObjectName pattern = new ObjectName("org.apache.cassandra.db:type=Tables,*");
      for (ObjectName store :
          ManagementFactory.getPlatformMBeanServer().queryNames(pattern, null)) {
        String keyspace = store.getKeyProperty("keyspace");
        Object parameters =
            isOwn(keyspace)
                ? null
                : Cassandra.attribute(store.getCanonicalName(), "CompactionParametersJson");
        if (parameters != null) {
          sink.fact(
              keyspace,
              store.getKeyProperty("table"),
              "compaction_in_force",
              parameters.toString(),
              "ColumnFamilyStoreMBean");
        }
      }
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * When each table's last successful repair session ended, as far as this node's replica of the
   * repair history knows.
   */
  static void repairs(Sink sink) throws ReflectiveOperationException {
    String source = "system_distributed.parent_repair_history";
    List<Map<?, ?>> sessions =
        rows(
            "SELECT JSON keyspace_name, columnfamily_names, finished_at, exception_message FROM "
                + source
                + " LIMIT "
                + SESSIONS);
    Map<String, Map<String, Long>> last = new HashMap<>();
    for (Map<?, ?> session : sessions) {
      Object tables = session.get("columnfamily_names");
      Object finished = session.get("finished_at");
      if (finished != null && session.get("exception_message") == null && tables instanceof List) {
        Map<String, Long> ofKeyspace =
            last.computeIfAbsent(text(session, "keyspace_name"), name -> new HashMap<>());
        // Parses a timestamp as CQL writes it in JSON: 2026-11-22 08:00:00.000Z.
        long second = Instant.parse(finished.toString().replace(' ', 'T')).getEpochSecond();
        for (Object table : (List<?>) tables) {
          ofKeyspace.merge(String.valueOf(table), second, Math::max);
        }
      }
    }
    sink.fact("", "", "repair_sessions", Integer.toString(sessions.size()), source);
    last.forEach(
        (keyspace, tables) ->
            tables.forEach(
                (table, second) ->
                    sink.fact(keyspace, table, "last_repair", Long.toString(second), source)));
  }

  /** The rows that are not about Cassandra's own keyspaces. */
  private static List<Map<?, ?>> rows(String query) throws ReflectiveOperationException {
    return InternalQuery.rows(query).stream()
        .filter(row -> !isOwn(text(row, "keyspace_name")))
        .collect(Collectors.toList());
  }

  /** Keyspaces that Cassandra makes for itself. */
  static boolean isOwn(String keyspace) {
    return keyspace.equals("system") || keyspace.startsWith("system_");
  }

  private static String text(Map<?, ?> row, String column) {
    Object value = row.get(column);
    return value instanceof Map || value instanceof List
        ? Json.write(value)
        : String.valueOf(value);
  }
}
