package io.helenus.agent.points;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Methods where no gate is allowed, with the reason: a thread that waits there would hold locks or
 * memory that others need, or serves many others. Probes are allowed there.
 */
final class ForbiddenGates {
  private static final Map<String, String> REASONS = new LinkedHashMap<>();

  static {
    String eventLoop = "its thread is an event loop that serves many connections";
    refuse("io.netty.*", eventLoop);
    refuse("org.apache.cassandra.transport.CQLMessageHandler.*", eventLoop);
    refuse("org.apache.cassandra.transport.InitialConnectionHandler.*", eventLoop);
    refuse("org.apache.cassandra.transport.Flusher*", eventLoop);
    refuse("org.apache.cassandra.transport.Dispatcher.dispatch", eventLoop);
    String internode = "nodes that wait for it would take this one for dead";
    refuse("org.apache.cassandra.net.*Handshak*", internode);
    refuse("org.apache.cassandra.net.*Connection*", internode);
    refuse("org.apache.cassandra.net.*Inbound*", internode);
    refuse("org.apache.cassandra.net.*Outbound*", internode);
    refuse("org.apache.cassandra.net.Frame*", internode);
    refuse("org.apache.cassandra.gms.*", internode);
    String log = "every write waits for the commit log, and segments are freed behind it";
    refuse("org.apache.cassandra.db.commitlog.*", log);
    String memtable = "writes wait until memtables are flushed and their memory is given back";
    refuse("org.apache.cassandra.utils.memory.*", memtable);
    refuse("org.apache.cassandra.db.memtable.*", memtable);
    refuse("org.apache.cassandra.db.Memtable*", memtable);
    refuse("org.apache.cassandra.db.ColumnFamilyStore*", memtable);
    String order = "an order of reads or writes is open here, and flushes wait for it to close";
    refuse("org.apache.cassandra.utils.concurrent.OpOrder*", order);
    refuse("org.apache.cassandra.db.Keyspace.apply*", order);
    refuse("org.apache.cassandra.db.ReadCommand.*", order);
    refuse("org.apache.cassandra.db.SinglePartitionReadCommand.*", order);
    refuse("org.apache.cassandra.db.PartitionRangeReadCommand.*", order);
    refuse("org.apache.cassandra.io.sstable.*", order);
    refuse("org.apache.cassandra.db.CounterMutation.*", "the locks of its counters are held here");
    String epoch = "the cluster's metadata changes here, one step at a time";
    refuse("org.apache.cassandra.tcm.*", epoch);
    refuse("org.apache.cassandra.schema.*", epoch);
    refuse("org.apache.cassandra.service.MigrationManager*", epoch);
    refuse("org.apache.cassandra.service.StorageService*", epoch);
    refuse("org.apache.cassandra.service.paxos.PaxosState*", "the lock of its partition is held");
    String executor = "it is where threads themselves are handed out and waited for";
    refuse("org.apache.cassandra.concurrent.*", executor);
    refuse("org.apache.cassandra.utils.concurrent.*", executor);
    refuse("java.*", "the JDK's own code runs under locks of all kinds");
    refuse("jdk.*", "the JDK's own code runs under locks of all kinds");
    refuse("sun.*", "the JDK's own code runs under locks of all kinds");
  }

  private ForbiddenGates() {}

  private static void refuse(String methods, String reason) {
    REASONS.put(methods, reason);
  }

  /** Why no gate is allowed at a method; null if one is. */
  static String reason(Method method) {
    if (method.isSynchronized()) {
      return "the lock of its object is held while it runs";
    }
    String name = method.className + "." + method.name;
    for (Map.Entry<String, String> entry : REASONS.entrySet()) {
      String methods = entry.getKey();
      boolean matches =
          methods.contains("*")
              ? name.matches(methods.replace(".", "\\.").replace("*", ".*"))
              : name.equals(methods);
      if (matches) {
        return entry.getValue();
      }
    }
    return null;
  }
}
