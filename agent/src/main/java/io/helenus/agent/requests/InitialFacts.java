package io.helenus.agent.requests;

import io.helenus.agent.sources.InternalQuery;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Reads what the node knew before the first packet: the ring and the prepared statements. */
final class InitialFacts {
  private InitialFacts() {}

  /**
   * Receives a prepared statement: its id, the keyspace it was prepared in or nothing, its text,
   * and the indices of its partition key among its values. A row of the ring has an empty id.
   */
  interface StatementSink {
    void accept(byte[] id, byte[] keyspace, byte[] text, short[] key);
  }

  /** Sends all prepared statements to the sink; none if this server has no such table. */
  static void read(StatementSink sink) {
    try {
      PartitionKeys keys = new PartitionKeys();
      for (Map<?, ?> row :
          InternalQuery.rows(
              "SELECT JSON prepared_id, query_string, logged_keyspace FROM system.prepared_statements")) {
        byte[] id = bytes((String) row.get("prepared_id"));
        String text = (String) row.get("query_string");
        Object keyspace = row.get("logged_keyspace");
        sink.accept(
            id,
            (keyspace == null ? "" : keyspace.toString()).getBytes(StandardCharsets.UTF_8),
            text.getBytes(StandardCharsets.UTF_8),
            keys.of(id));
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      // If this fails, requests have the statements' ids instead of their texts.
    }
  }

  /** The columns to read of each table about the ring and replication. */
  private static final String[][] RING = {
    {"system.local", "data_center, rack, tokens, partitioner"},
    {"system.peers_v2", "data_center, rack, tokens"},
    {"system_schema.keyspaces", "keyspace_name, replication"},
  };

  /** Sends the rows of the ring to the sink: the table as keyspace, the row as text. */
  static void readRing(StatementSink sink) {
    for (String[] table : RING) {
      byte[] name = table[0].getBytes(StandardCharsets.UTF_8);
      try {
        for (String row : InternalQuery.texts("SELECT JSON " + table[1] + " FROM " + table[0])) {
          sink.accept(new byte[0], name, row.getBytes(StandardCharsets.UTF_8), new short[0]);
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        // An empty row tells the recorder that this table is unknown.
        sink.accept(new byte[0], name, new byte[0], new short[0]);
      }
    }
  }

  /** Parses a blob literal of CQL. */
  private static byte[] bytes(String blob) {
    byte[] bytes = new byte[(blob.length() - 2) / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) Integer.parseInt(blob.substring(2 + 2 * i, 4 + 2 * i), 16);
    }
    return bytes;
  }
}
