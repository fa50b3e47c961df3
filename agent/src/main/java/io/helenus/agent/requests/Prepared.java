package io.helenus.agent.requests;

import io.helenus.agent.sources.InternalQuery;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The statements that were prepared before. */
final class Prepared {
  private Prepared() {}

  /** Takes a statement: its id, the keyspace it was prepared in or nothing, and its text. */
  interface Each {
    void accept(byte[] id, byte[] keyspace, byte[] text);
  }

  /** Gives the id and the text of each; none where this server has no such table. */
  static void read(Each each) {
    try {
      for (Map<?, ?> row :
          InternalQuery.rows(
              "SELECT JSON prepared_id, query_string, logged_keyspace FROM system.prepared_statements")) {
        String id = (String) row.get("prepared_id");
        String text = (String) row.get("query_string");
        Object keyspace = row.get("logged_keyspace");
        each.accept(
            bytes(id),
            (keyspace == null ? "" : keyspace.toString()).getBytes(StandardCharsets.UTF_8),
            text.getBytes(StandardCharsets.UTF_8));
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      // They go by their ids then.
    }
  }

  /** Of a blob as CQL writes it. */
  private static byte[] bytes(String blob) {
    byte[] bytes = new byte[(blob.length() - 2) / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) Integer.parseInt(blob.substring(2 + 2 * i, 4 + 2 * i), 16);
    }
    return bytes;
  }
}
