package io.helenus.agent.trial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.tuning.Beans;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The commands reach MBeans whose operations are declared in the same way as Cassandra's. */
class TrialCommandsTest {
  private static final ObjectName TABLE =
      Beans.name("org.apache.cassandra.db:type=Tables,keyspace=shop,table=orders");

  /** The part of Cassandra's MBean that the commands use. */
  public interface StorageMBean {
    void takeSnapshot(String tag, Map<String, String> options, String... entities);

    void clearSnapshot(String tag, String... keyspaces);

    void disableAutoCompaction(String keyspace, String... tables);
  }

  public interface TableMBean {
    List<String> importNewSSTables(
        Set<String> folders,
        boolean resetLevel,
        boolean clearRepaired,
        boolean verifySSTables,
        boolean verifyTokens,
        boolean invalidateCaches,
        boolean extendedVerify);
  }

  private final List<String> asked = new ArrayList<>();
  private final CountDownLatch taking = new CountDownLatch(1);
  private final CountDownLatch taken = new CountDownLatch(1);

  private final StorageMBean storage =
      new StorageMBean() {
        @Override
        public void takeSnapshot(String tag, Map<String, String> options, String... entities) {
          taking.countDown();
          try {
            assertTrue(taken.await(10, TimeUnit.SECONDS));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          asked.add("take " + tag + " " + options + " " + String.join(",", entities));
        }

        @Override
        public void clearSnapshot(String tag, String... keyspaces) {
          asked.add("clear " + tag + " " + String.join(",", keyspaces));
        }

        @Override
        public void disableAutoCompaction(String keyspace, String... tables) {
          asked.add("disable " + keyspace + " " + String.join(",", tables));
        }
      };

  private final TableMBean table =
      (folders, level, repaired, verify, tokens, caches, extended) -> List.copyOf(folders);

  @BeforeEach
  void register() throws Exception {
    Beans.SERVER.registerMBean(
        new StandardMBean(storage, StorageMBean.class), Beans.name(Beans.STORAGE));
    Beans.SERVER.registerMBean(new StandardMBean(table, TableMBean.class), TABLE);
  }

  @AfterEach
  void unregister() throws Exception {
    Beans.SERVER.unregisterMBean(Beans.name(Beans.STORAGE));
    Beans.SERVER.unregisterMBean(TABLE);
  }

  @Test
  void whatClearsASnapshotWaitsForOneThatIsBeingTaken() throws Exception {
    Map<String, String> take = Map.of("tag", "t", "table", "shop.orders", "ttl", "3600s");
    Thread one = new Thread(() -> new TrialCommands().answer("snapshot.take", take));
    one.start();
    assertTrue(taking.await(10, TimeUnit.SECONDS));
    // Another agent, whose recorder came after the first recorder was killed.
    Map<String, String> clear = Map.of("tag", "t", "keyspace", "shop");
    Thread other = new Thread(() -> new TrialCommands().answer("snapshot.clear", clear));
    other.start();
    while (other.getState() != Thread.State.BLOCKED && other.isAlive()) {
      Thread.onSpinWait();
    }
    taken.countDown();
    one.join();
    other.join();
    assertEquals(List.of("take t {ttl=3600s} shop.orders", "clear t shop"), asked);
  }

  @Test
  void aNodeThatIsNoThrowawayKeepsItsTables() {
    // Neither a property that is set later nor a command makes a node a throwaway one.
    System.setProperty("helenus.throwaway", "true");
    try {
      TrialCommands trialCommands = new TrialCommands();
      for (String what :
          List.of("trial.import", "trial.compact", "trial.trim", "trial.trimming", "trial.reads")) {
        Map<String, Object> given =
            Map.of("table", "shop.orders", "folder", "/f", "on", false, "others", List.of("1"));
        Refusal refused =
            assertThrows(Refusal.class, () -> trialCommands.answer(what, given), what);
        assertTrue(refused.getMessage().contains("throwaway"), refused.getMessage());
      }
      assertEquals(List.of(), asked);
      assertTrue(trialCommands.isIdle());
    } finally {
      System.clearProperty("helenus.throwaway");
    }
  }

  @Test
  void whatCantBeDoneIsRefused() {
    TrialCommands trialCommands = new TrialCommands(true);
    Map<String, Object> load = Map.of("table", "shop.orders", "folder", "/some/where");
    Refusal refused = assertThrows(Refusal.class, () -> trialCommands.answer("trial.import", load));
    assertTrue(refused.getMessage().contains("/some/where"), refused.getMessage());
    Map<String, Object> unknown = Map.of("table", "shop.order", "ttl", "1s", "tag", "t");
    refused = assertThrows(Refusal.class, () -> trialCommands.answer("snapshot.take", unknown));
    assertTrue(refused.hint.contains("shop.orders"), refused.hint);
    for (String what : List.of("snapshot.clear", "trial.trim", "trial.trimming", "trial.more")) {
      assertThrows(
          Refusal.class, () -> trialCommands.answer(what, Map.of("table", "shop.orders")), what);
    }
    assertEquals(
        false, trialCommands.answer("trial.compact", Map.of("table", "shop.orders", "on", false)));
    assertEquals(List.of("disable shop orders"), asked);
  }
}
