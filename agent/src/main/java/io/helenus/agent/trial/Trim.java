package io.helenus.agent.trial;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.tuning.Beans;
import io.helenus.agent.tuning.TableBean;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps only some token ranges of each SSTable of a table. Cassandra's own cleanup does the work:
 * the cleanup reads and writes only those ranges and does not merge SSTables. Meanwhile this class
 * makes a throwaway single-node ring believe that a second, nonexistent node owns all other ranges.
 *
 * <p>Uses internal names of 4.0, 4.1 and 5.0.
 */
final class Trim {
  /** An address reserved for documentation (RFC 5737), which no host has. */
  private static final String NOBODY = "192.0.2.1";

  private final TableBean table;
  private volatile boolean done;
  private volatile String error;

  private Trim(TableBean table) {
    this.table = table;
  }

  /**
   * @param others tokens as text: each ends a range that goes, and begins one that stays, up to the
   *     next token of the node's own
   */
  static Trim start(TableBean table, Object others) {
    if (!(others instanceof List) || ((List<?>) others).isEmpty()) {
      throw new Refusal("the command has no tokens", "give others, a list of texts");
    }
    Trim trim = new Trim(table);
    List<?> tokens = (List<?>) others;
    Thread thread = new Thread(() -> trim.run(tokens), "helenus-agent-trim");
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
    return trim;
  }

  boolean isDone() {
    return done;
  }

  Map<String, Object> state() {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("done", done);
    state.put("error", error);
    return state;
  }

  private void run(List<?> others) {
    try {
      Ring ring = new Ring(Beans.SERVER.getClassLoaderFor(Beans.name(Beans.STORAGE)));
      ring.give(others);
      try {
        // One SSTable at a time, because the user's own node runs on the same machine.
        Object[] with = {1, table.keyspace, new String[] {table.table}};
        Beans.invoke(
            Beans.name(Beans.STORAGE),
            "forceKeyspaceCleanup",
            with,
            "int",
            String.class.getName(),
            String[].class.getName());
      } finally {
        ring.takeBack();
      }
    } catch (InvocationTargetException e) {
      error = String.valueOf(e.getCause());
    } catch (Exception | LinkageError e) {
      error = String.valueOf(e.getMessage());
    } finally {
      done = true;
    }
  }

  /** The owners of the tokens in this node's view of the ring. */
  private static final class Ring {
    private final Object nobody;
    private final Object tokens;
    private final Class<?> factory;
    private final Object metadata;
    private final Class<?> address;

    Ring(ClassLoader loader) throws ReflectiveOperationException {
      Class<?> type = Class.forName("org.apache.cassandra.service.StorageService", true, loader);
      Object service = type.getField("instance").get(null);
      metadata = type.getMethod("getTokenMetadata").invoke(service);
      Method maker = type.getMethod("getTokenFactory");
      tokens = maker.invoke(service);
      factory = maker.getReturnType();
      address = Class.forName("org.apache.cassandra.locator.InetAddressAndPort", true, loader);
      nobody = address.getMethod("getByName", String.class).invoke(null, NOBODY);
    }

    void give(List<?> others) throws ReflectiveOperationException {
      // Uses the declared class, because the object's own class is not public.
      Method read = factory.getMethod("fromString", String.class);
      List<Object> given = new ArrayList<>();
      for (Object token : others) {
        given.add(read.invoke(tokens, String.valueOf(token)));
      }
      metadata
          .getClass()
          .getMethod("updateNormalTokens", Collection.class, address)
          .invoke(metadata, given, nobody);
    }

    void takeBack() throws ReflectiveOperationException {
      metadata.getClass().getMethod("removeEndpoint", address).invoke(metadata, nobody);
    }
  }
}
