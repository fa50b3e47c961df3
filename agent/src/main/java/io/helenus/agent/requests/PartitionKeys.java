package io.helenus.agent.requests;

import io.helenus.agent.sources.Cassandra;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds which bound values of a prepared statement are its partition key: asks {@code
 * QueryProcessor} for the statement and calls {@code getPartitionKeyBindVariableIndexes}, which
 * 4.0, 4.1 and 5.0 have.
 */
final class PartitionKeys {
  private static final short[] NONE = {};

  private final Object processor;
  private final Method getPrepared;
  private final Method wrap;

  PartitionKeys() throws ReflectiveOperationException {
    Class<?> queries =
        Class.forName("org.apache.cassandra.cql3.QueryProcessor", false, Cassandra.loader());
    Class<?> digest =
        Class.forName("org.apache.cassandra.utils.MD5Digest", false, Cassandra.loader());
    processor = queries.getField("instance").get(null);
    getPrepared = queries.getMethod("getPrepared", digest);
    wrap = digest.getMethod("wrap", byte[].class);
  }

  /**
   * The indices of the key's columns among the values, in the order of the key. Empty if the key is
   * not bound, is bound several times, or the server does not know the statement.
   */
  short[] of(byte[] id) {
    try {
      Object prepared = getPrepared.invoke(processor, wrap.invoke(null, (Object) id));
      if (prepared == null) {
        return NONE;
      }
      Object statement = prepared.getClass().getField("statement").get(prepared);
      Method indexes = statement.getClass().getMethod("getPartitionKeyBindVariableIndexes");
      Method variables = statement.getClass().getMethod("getBindVariables");
      short[] places = (short[]) indexes.invoke(statement);
      return places == null || !isOne(places, (List<?>) variables.invoke(statement))
          ? NONE
          : places;
    } catch (ReflectiveOperationException | RuntimeException e) {
      return NONE;
    }
  }

  /**
   * Whether each column of the key is bound exactly once; if one is bound several times, the server
   * returns only the last marker.
   */
  private static boolean isOne(short[] places, List<?> variables)
      throws ReflectiveOperationException {
    Set<String> names = new HashSet<>();
    for (short place : places) {
      names.add(name(variables.get(place)));
    }
    int bound = 0;
    for (Object variable : variables) {
      bound += names.contains(name(variable)) ? 1 : 0;
    }
    return bound == places.length;
  }

  private static String name(Object variable) throws ReflectiveOperationException {
    return variable.getClass().getField("name").get(variable).toString();
  }
}
