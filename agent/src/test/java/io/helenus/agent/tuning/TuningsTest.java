package io.helenus.agent.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Settings are changed and restored on MBeans that behave like Cassandra's. */
class TuningsTest {
  private static final ObjectName TABLE =
      Beans.name("org.apache.cassandra.db:type=Tables,keyspace=shop,table=orders");
  private static final String TIERED = "{\"class\":\"tiered\"}";
  private static final String APPLY =
      "{\"id\":\"a\",\"setting\":\"compaction\",\"table\":\"shop.orders\","
          + "\"value\":{\"class\":\"leveled\",\"sstable_size_in_mb\":64}";

  /** The part of Cassandra's MBean that the tunings use. */
  public interface TableMBean {
    String getCompactionParametersJson();

    void setCompactionParametersJson(String parameters);

    boolean isAutoCompactionDisabled();
  }

  public interface StorageMBean {
    int getCompactionThroughputMbPerSec();

    void setCompactionThroughputMbPerSec(int value);

    long getCompactionThroughtputBytesPerSec();

    void enableAutoCompaction(String keyspace, String... tables);

    void disableAutoCompaction(String keyspace, String... tables);

    long getNativeTransportMaxConcurrentRequestsInBytes();

    void setNativeTransportMaxConcurrentRequestsInBytes(long bytes);
  }

  /** These attributes exist since 4.1. */
  public interface LimitedStorageMBean extends StorageMBean {
    boolean getNativeTransportRateLimitingEnabled();

    void setNativeTransportRateLimitingEnabled(boolean enabled);

    int getNativeTransportMaxRequestsPerSecond();

    void setNativeTransportMaxRequestsPerSecond(int perSecond);
  }

  private static final class Node implements TableMBean, LimitedStorageMBean {
    volatile String parameters = TIERED;
    volatile boolean disabled;
    long bytesPerS = 64L << 20;
    long requestBytes = 100L << 20;
    boolean limited;
    int perSecond = 1_000_000;

    @Override
    public String getCompactionParametersJson() {
      return parameters;
    }

    @Override
    public void setCompactionParametersJson(String parameters) {
      if (parameters.contains("nonsense")) {
        throw new IllegalArgumentException("Unable to find compaction strategy class 'nonsense'");
      }
      this.parameters = parameters;
      disabled = false;
    }

    @Override
    public boolean isAutoCompactionDisabled() {
      return disabled;
    }

    @Override
    public int getCompactionThroughputMbPerSec() {
      return (int) (bytesPerS >> 20);
    }

    @Override
    public void setCompactionThroughputMbPerSec(int value) {
      bytesPerS = (long) value << 20;
    }

    @Override
    public long getCompactionThroughtputBytesPerSec() {
      return bytesPerS;
    }

    @Override
    public void enableAutoCompaction(String keyspace, String... tables) {
      disabled = false;
    }

    @Override
    public void disableAutoCompaction(String keyspace, String... tables) {
      disabled = true;
    }

    @Override
    public long getNativeTransportMaxConcurrentRequestsInBytes() {
      return requestBytes;
    }

    @Override
    public void setNativeTransportMaxConcurrentRequestsInBytes(long bytes) {
      requestBytes = bytes;
    }

    @Override
    public boolean getNativeTransportRateLimitingEnabled() {
      return limited;
    }

    @Override
    public void setNativeTransportRateLimitingEnabled(boolean enabled) {
      limited = enabled;
    }

    @Override
    public int getNativeTransportMaxRequestsPerSecond() {
      return perSecond;
    }

    @Override
    public void setNativeTransportMaxRequestsPerSecond(int perSecond) {
      this.perSecond = perSecond;
    }
  }

  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final Node node = new Node();
  private final List<String> log = new ArrayList<>();
  private final CountDownLatch leaseEnded = new CountDownLatch(1);
  private final Tunings tunings = new Tunings(log::add, leaseEnded::countDown);

  @BeforeEach
  void register() throws Exception {
    server.registerMBean(new StandardMBean(node, TableMBean.class), TABLE);
    registerStorage(StorageMBean.class);
  }

  private <T> void registerStorage(Class<T> as) throws Exception {
    server.registerMBean(new StandardMBean(as.cast(node), as), Beans.name(Beans.STORAGE));
  }

  @AfterEach
  void unregister() throws Exception {
    server.unregisterMBean(TABLE);
    server.unregisterMBean(Beans.name(Beans.STORAGE));
  }

  private Map<?, ?> ask(String what, String json) {
    return (Map<?, ?>) tunings.answer(what, (Map<?, ?>) Json.parse(json));
  }

  private Refusal refused(String what, String json) {
    return assertThrows(Refusal.class, () -> ask(what, json));
  }

  @Test
  void whatWasIsPutBack() {
    Map<?, ?> applied = ask("tune.apply", APPLY + "}");
    assertEquals(Map.of("class", "tiered"), applied.get("before"));
    assertEquals(Map.of("class", "leveled", "sstable_size_in_mb", "64"), applied.get("set"));
    assertNull(applied.get("left_ms"));
    assertEquals("{\"class\":\"leveled\",\"sstable_size_in_mb\":\"64\"}", node.parameters);
    assertTrue(refused("tune.apply", APPLY + "}").getMessage().contains("tuned already"));
    assertEquals("undone", ask("tune.undo", "{\"id\":\"a\"}").get("outcome"));
    assertEquals(TIERED, node.parameters);
    assertTrue(tunings.isEmpty());
  }

  @Test
  void whatSomebodyElseHasSetStays() {
    ask("tune.apply", APPLY + "}");
    node.parameters = "{\"class\":\"unified\"}";
    assertEquals("altered", ask("tune.undo", "{\"id\":\"a\"}").get("outcome"));
    assertEquals("{\"class\":\"unified\"}", node.parameters);
    assertTrue(tunings.isEmpty());
  }

  @Test
  void whoKeptAJournalCanUndoWithoutTheAgentsMemory() {
    node.parameters = "{\"class\":\"leveled\"}";
    String journaled =
        "{\"id\":\"lost\",\"setting\":\"compaction\",\"table\":\"shop.orders\","
            + "\"before\":{\"class\":\"tiered\"},\"set\":{\"class\":\"leveled\"}}";
    assertEquals("undone", ask("tune.undo", journaled).get("outcome"));
    assertEquals(TIERED, node.parameters);
    assertEquals("gone", ask("tune.undo", journaled).get("outcome"));
    String dropped = journaled.replace("orders", "dropped");
    assertEquals("dropped", ask("tune.undo", dropped).get("outcome"));
  }

  @Test
  void aLeaseEndsUnlessItIsRenewed() throws Exception {
    ask("tune.apply", APPLY + ",\"lease_ms\":600}");
    TimeUnit.MILLISECONDS.sleep(300);
    assertTrue((Long) ask("tune.renew", "{\"id\":\"a\"}").get("left_ms") > 300);
    TimeUnit.MILLISECONDS.sleep(400);
    assertFalse(tunings.isEmpty(), "it was renewed");
    assertTrue(leaseEnded.await(10, TimeUnit.SECONDS));
    assertEquals(TIERED, node.parameters);
    assertTrue(tunings.isEmpty());
    assertEquals(List.of(), log);
  }

  @Test
  void aRenewedLeaseMayBeAnotherOne() throws Exception {
    ask("tune.apply", APPLY + "}");
    assertEquals(
        3_600_000L, ask("tune.renew", "{\"id\":\"a\",\"lease_ms\":3600000}").get("lease_ms"));
    Map<?, ?> shorter = ask("tune.renew", "{\"id\":\"a\",\"lease_ms\":200}");
    assertTrue((Long) shorter.get("left_ms") <= 200);
    assertTrue(leaseEnded.await(10, TimeUnit.SECONDS));
    assertEquals(TIERED, node.parameters);
    assertTrue(tunings.isEmpty());
    refused("tune.renew", "{\"id\":\"a\"}");
  }

  @Test
  void whatIsWrongChangesNothing() {
    Refusal table = refused("tune.read", "{\"setting\":\"compaction\",\"table\":\"shop.order\"}");
    assertEquals("did you mean shop.orders?", table.hint);
    refused("tune.read", "{\"setting\":\"compaction\",\"table\":\"shop.*\"}");
    assertTrue(refused("tune.read", "{\"setting\":\"compactio\"}").hint.contains("compaction"));
    Refusal strategy = refused("tune.apply", APPLY.replace("leveled", "nonsense") + "}");
    assertTrue(strategy.getMessage().contains("Unable to find compaction strategy class"));
    String stale = APPLY + ",\"before\":{\"class\":\"other\"}}";
    assertTrue(refused("tune.apply", stale).getMessage().contains("somebody else"));
    assertEquals(TIERED, node.parameters);
    assertTrue(tunings.isEmpty());
  }

  @Test
  void compactionThatAnOperatorDisabledStaysSo() {
    node.disabled = true;
    ask("tune.apply", APPLY + "}");
    assertTrue(node.disabled);
    ask("tune.undo", "{\"id\":\"a\"}");
    assertTrue(node.disabled);
  }

  @Test
  void aThroughputThatCouldNotBePutBackIsLeft() {
    String apply = "{\"id\":\"t\",\"setting\":\"compaction-throughput\",\"value\":8}";
    ask("tune.apply", apply);
    assertEquals(8L << 20, node.bytesPerS);
    ask("tune.undo", "{\"id\":\"t\"}");
    assertEquals(64L << 20, node.bytesPerS);
    node.bytesPerS = 1_500_000;
    assertTrue(refused("tune.apply", apply).getMessage().contains("1500000 bytes/s"));
    assertEquals(1_500_000, node.bytesPerS);
    node.bytesPerS = 64L << 20;
    assertTrue(refused("tune.apply", apply.replace("8}", "-1}")).hint.contains("from 0 on"));
  }

  @Test
  void aRateThatIsNotInForceIsPutBackToo() throws Exception {
    String apply =
        "{\"id\":\"r\",\"setting\":\"requests-per-second\","
            + "\"value\":{\"enabled\":\"true\",\"per_second\":\"500\"}}";
    Refusal old = refused("tune.apply", apply);
    assertTrue(old.hint.contains("4.1 and later"), old.hint);
    server.unregisterMBean(Beans.name(Beans.STORAGE));
    registerStorage(LimitedStorageMBean.class);
    ask("tune.apply", apply);
    assertTrue(node.limited);
    assertEquals(500, node.perSecond);
    assertEquals("undone", ask("tune.undo", "{\"id\":\"r\"}").get("outcome"));
    assertFalse(node.limited);
    assertEquals(1_000_000, node.perSecond);
    assertTrue(refused("tune.apply", apply.replace("500", "0")).hint.contains("from 1 on"));
    assertFalse(node.limited);
  }

  @Test
  void bytesMayBeMoreThanAnIntegerHolds() {
    ask(
        "tune.apply",
        "{\"id\":\"b\",\"setting\":\"concurrent-request-bytes\",\"value\":5000000000}");
    assertEquals(5_000_000_000L, node.requestBytes);
    ask("tune.undo", "{\"id\":\"b\"}");
    assertEquals(100L << 20, node.requestBytes);
  }
}
