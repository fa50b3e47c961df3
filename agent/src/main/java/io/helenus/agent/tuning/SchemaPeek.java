package io.helenus.agent.tuning;

import java.util.Map;

/**
 * What the schema says of a table. No MBean tells, and one has to know: once an ALTER TABLE has
 * made the parameters that were tried those of all nodes, putting back the former ones would undo
 * it.
 *
 * <p>The names are those of 4.0, 4.1 and 5.0. Where they are others nothing is known of the schema.
 */
final class SchemaPeek {
  private SchemaPeek() {}

  /** The parameters of its compaction by name; null where they can't be told. */
  static Map<String, String> compaction(TableBean store) {
    try {
      ClassLoader loader = Beans.SERVER.getClassLoaderFor(store.bean);
      Class<?> type = Class.forName("org.apache.cassandra.schema.Schema", true, loader);
      Object schema = type.getField("instance").get(null);
      Object metadata =
          type.getMethod("getTableMetadata", String.class, String.class)
              .invoke(schema, store.keyspace, store.table);
      Object params = metadata.getClass().getField("params").get(metadata);
      Object compaction = params.getClass().getField("compaction").get(params);
      return TableCompaction.parameters(
          compaction.getClass().getMethod("asMap").invoke(compaction));
    } catch (Exception | LinkageError e) {
      return null;
    }
  }
}
