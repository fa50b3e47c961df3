package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Source {@code definitions}: the settings of the node and the definitions of its tables. The first
 * reading writes all; later readings, every {@value #EVERY_S} s, write what has changed.
 */
public final class Definitions extends SampledSource {
  private static final long EVERY_S = 30;
  private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(EVERY_S);

  private final Map<String, String> settings = new HashMap<>();
  private final Map<String, String> facts = new HashMap<>();

  /** Keys of the facts that come from the schema. */
  private final Set<String> defined = new HashSet<>();

  private Object schemaVersion;
  private boolean begun;
  private long readAt;

  public Definitions(Feed feed) {
    super(feed);
  }

  @Override
  void read() throws ReflectiveOperationException {
    long now = System.nanoTime();
    if ((begun && now - readAt < EVERY_NS) || !Cassandra.isUp()) {
      return;
    }
    boolean first = !begun;
    begun = true;
    readAt = now;
    NodeSettings.jvm(this::setting);
    NodeSettings.logging(this::setting);
    NodeSettings.disks(this::setting);
    NodeSettings.cassandra(this::setting);
    Object version = Cassandra.attribute(Cassandra.STORAGE_SERVICE, "SchemaVersion");
    if (!Objects.equals(version, schemaVersion)) {
      schemaVersion = version;
      Set<String> gone = new HashSet<>(defined);
      defined.clear();
      TableFacts.schema(this::define);
      gone.removeAll(defined);
      gone.forEach(this::forget);
    }
    TableFacts.inForce(this::fact);
    if (first) {
      TableFacts.repairs(this::fact);
    }
  }

  private void setting(String name, String value, String source) {
    if (!value.equals(settings.put(name, value))) {
      Tables.setting(feed.rows(), feed.at(System.nanoTime()), feed.node(), name, value, source);
    }
  }

  private void define(String keyspace, String table, String fact, String value, String source) {
    defined.add(String.join("\n", keyspace, table, fact));
    fact(keyspace, table, fact, value, source);
  }

  private void forget(String name) {
    String[] parts = name.split("\n", -1);
    fact(parts[0], parts[1], parts[2], "", "system_schema");
  }

  private void fact(String keyspace, String table, String fact, String value, String source) {
    if (!value.equals(facts.put(String.join("\n", keyspace, table, fact), value))) {
      Tables.tableFact(
          feed.rows(),
          feed.at(System.nanoTime()),
          feed.node(),
          keyspace,
          table,
          fact,
          value,
          source);
    }
  }
}
