package io.helenus.agent.sources;

import io.helenus.agent.core.Json;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads the server's own tables from within, which needs no user and no password, and sends nothing
 * over the network: {@code QueryProcessor.executeOnceInternal}, which 4.0, 4.1 and 5.0 have, and
 * which keeps no statement prepared.
 */
public final class InternalQuery {
  private InternalQuery() {}

  /**
   * The rows of a query that says {@code SELECT JSON}, by column.
   *
   * @throws ReflectiveOperationException if this Cassandra has no such method, or the query fails
   */
  public static List<Map<?, ?>> rows(String query) throws ReflectiveOperationException {
    List<Map<?, ?>> rows = new ArrayList<>();
    for (String text : texts(query)) {
      rows.add((Map<?, ?>) Json.parse(text));
    }
    return rows;
  }

  /**
   * The same rows as texts.
   *
   * @throws ReflectiveOperationException as for {@link #rows}
   */
  public static List<String> texts(String query) throws ReflectiveOperationException {
    Class<?> processor =
        Class.forName("org.apache.cassandra.cql3.QueryProcessor", false, Cassandra.loader());
    Method execute = processor.getMethod("executeOnceInternal", String.class, Object[].class);
    Object result = execute.invoke(null, query, new Object[0]);
    List<String> rows = new ArrayList<>();
    for (Object row : (Iterable<?>) result) {
      Method text = row.getClass().getMethod("getString", String.class);
      rows.add((String) text.invoke(row, "[json]"));
    }
    return rows;
  }
}
