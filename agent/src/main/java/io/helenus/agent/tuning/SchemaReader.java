package io.helenus.agent.tuning;

import java.util.Map;

/**
 * Reads a table's parameters from the schema, which no MBean exposes. They are needed because an
 * ALTER TABLE may have set the parameters on trial on all nodes; restoring the former ones would
 * then undo the ALTER TABLE.
 *
 * <p>Uses internal names of 4.0, 4.1 and 5.0. On other releases the schema is unknown.
 */
final class SchemaReader {
  private SchemaReader() {}

  /** The compaction parameters of a table by name; null if they can't be read. */
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
