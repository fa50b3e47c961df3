package io.helenus.agent.trial;

import io.helenus.agent.sources.InternalQuery;
import io.helenus.agent.tuning.Beans;
import io.helenus.agent.tuning.TableBean;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;

/** Hard links to the SSTables of one table, made and removed by Cassandra itself. */
final class Snapshots {
  private static final ObjectName STORAGE = Beans.name(Beans.STORAGE);
  private static final String TEXT = String.class.getName();
  private static final String TEXTS = String[].class.getName();

  /**
   * Settings that a node with a copy of a table needs too: the formats that the node reads and
   * writes, how it compacts and how it reads files. In 4.0 the names include the unit. No setting
   * is a secret.
   */
  private static final List<String> SETTINGS =
      List.of(
          "compaction_throughput",
          "compaction_throughput_mb_per_sec",
          "concurrent_compactors",
          "disk_access_mode",
          "key_cache_size",
          "key_cache_size_in_mb",
          "partitioner",
          "sstable.selected_format",
          "sstable_preemptive_open_interval",
          "sstable_preemptive_open_interval_in_mb",
          "storage_compatibility_mode");

  /**
   * A lock that all agents of this JVM share, although each has classes of its own: clearing a
   * snapshot waits until another agent, whose recorder may have been killed, has taken it.
   */
  private static final Object ONE_AT_A_TIME = "io.helenus.agent.snapshot".intern();

  private Snapshots() {}

  /** The properties of this node that its trial nodes must share. */
  static Map<String, Object> node(TableBean table) {
    Map<String, Object> node = new LinkedHashMap<>();
    node.put("release", Beans.get(STORAGE, "ReleaseVersion"));
    node.put("host_id", Beans.getOrNull(STORAGE, "LocalHostId"));
    node.put("live_disk_bytes", liveBytes(table));
    node.put("data", Arrays.asList((String[]) Beans.get(STORAGE, "AllDataFileLocations")));
    Map<String, String> settings = new LinkedHashMap<>();
    try {
      for (Map<?, ?> row :
          InternalQuery.rows("SELECT JSON name, value FROM system_views.settings")) {
        String name = String.valueOf(row.get("name"));
        if (SETTINGS.contains(name) && row.get("value") != null) {
          settings.put(name, String.valueOf(row.get("value")));
        }
      }
    } catch (ReflectiveOperationException e) {
      // If a node does not report its settings, the default settings are assumed.
    }
    node.put("settings", settings);
    node.put("schema", schema(table));
    node.put("types", rows("types", "keyspace_name = '" + table.keyspace + "'"));
    node.put("columns", rows("columns", of(table)));
    return node;
  }

  private static String of(TableBean table) {
    return "keyspace_name = '" + table.keyspace + "' AND table_name = '" + table.table + "'";
  }

  /** Rows of a schema table as JSON; null if they can't be read. */
  private static List<Map<?, ?>> rows(String of, String where) {
    try {
      return InternalQuery.rows("SELECT JSON * FROM system_schema." + of + " WHERE " + where);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** The rows that define the table, to detect an ALTER by comparison; null if unknown. */
  private static String schema(TableBean table) {
    StringBuilder schema = new StringBuilder();
    for (String of : List.of("tables", "columns", "dropped_columns")) {
      List<Map<?, ?>> rows = rows(of, of(table));
      if (rows == null) {
        return null;
      }
      schema.append(rows);
    }
    return schema.toString();
  }

  private static Object liveBytes(TableBean table) {
    String name =
        "keyspace=" + table.keyspace + ",scope=" + table.table + ",name=LiveDiskSpaceUsed";
    return Beans.get(Beans.name("org.apache.cassandra.metrics:type=Table," + name), "Count");
  }

  /**
   * @param ttl such as {@code 3h}: from 4.1 on Cassandra clears the snapshot by itself then, also
   *     after a restart; 4.0 does not know it
   * @return the tag; the links are in {@code KEYSPACE/TABLE-ID/snapshots/TAG} of the folders with
   *     data
   */
  static Object take(String tag, TableBean table, String ttl) {
    Object[] with = {tag, Map.of("ttl", ttl), new String[] {table.toString()}};
    synchronized (ONE_AT_A_TIME) {
      Beans.invoke(STORAGE, "takeSnapshot", with, TEXT, Map.class.getName(), TEXTS);
    }
    return tag;
  }

  static Object clear(String tag, String keyspace) {
    Object[] with = {tag, new String[] {keyspace}};
    synchronized (ONE_AT_A_TIME) {
      Beans.invoke(STORAGE, "clearSnapshot", with, TEXT, TEXTS);
    }
    return tag;
  }
}
