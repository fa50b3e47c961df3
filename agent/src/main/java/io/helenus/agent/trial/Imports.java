package io.helenus.agent.trial;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.tuning.Beans;
import io.helenus.agent.tuning.TableBean;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Imports SSTables into a table unchanged. */
final class Imports {
  private Imports() {}

  /**
   * Moves the SSTables of a folder into the table. Each keeps its level and its repair state.
   * Returns the number of SSTables that the table then has.
   */
  static Object load(TableBean table, String folder) {
    // The parameters of the operation: resetLevel, clearRepaired, verifySSTables, verifyTokens,
    // invalidateCaches, extendedVerify.
    Object[] with = {Set.of(folder), false, false, false, false, false, false};
    String[] types = new String[with.length];
    Arrays.fill(types, "boolean");
    types[0] = Set.class.getName();
    Object failed = Beans.invoke(table.bean, "importNewSSTables", with, types);
    if (failed instanceof List && !((List<?>) failed).isEmpty()) {
      throw new Refusal(
          table + " did not take the SSTables of " + folder, "see the log of the node");
    }
    return Beans.get(
        Beans.name(
            "org.apache.cassandra.metrics:type=Table,keyspace="
                + table.keyspace
                + ",scope="
                + table.table
                + ",name=LiveSSTableCount"),
        "Value");
  }

  /** Enables automatic compaction of the table, which begins at once, or disables it. */
  static Object compact(TableBean table, boolean on) {
    Beans.invoke(
        Beans.name(Beans.STORAGE),
        on ? "enableAutoCompaction" : "disableAutoCompaction",
        new Object[] {table.keyspace, new String[] {table.table}},
        String.class.getName(),
        String[].class.getName());
    return on;
  }
}
