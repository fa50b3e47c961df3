package io.helenus.agent.valves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.dispatch.Dispatcher;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class GateTest {
  private static final long LONG_NS = TimeUnit.MINUTES.toNanos(10);

  private final Dispatcher dispatcher = new Dispatcher();
  private final GateOrder gateOrder = new GateOrder();
  private final List<Thread> threads = new ArrayList<>();

  /** A gate and the numbers of its sites, one for each weight. */
  private final class Stand {
    final Gate gate;
    final int[] sites;

    Stand(int limit, Order order, long maxWaitNs, RuntimeException refusal, double... weights) {
      Gate.OverflowPolicy policy =
          new Gate.OverflowPolicy(maxWaitNs, refusal == null ? null : () -> refusal);
      gate = new Gate(gateOrder, gateOrder.allocate(), policy, new WaitQueue(order, weights));
      gate.limit(limit);
      sites = new int[weights.length];
      for (int point = 0; point < weights.length; point++) {
        sites[point] = dispatcher.number();
        dispatcher.register(sites[point], gate.interceptor(sites[point], point), null);
      }
    }

    long count(int which) {
      return gate.read()[which];
    }
  }

  private Stand stand(int limit) {
    return new Stand(limit, Order.FIFO, LONG_NS, null, 1);
  }

  private Thread start(Runnable task) {
    Thread thread = new Thread(task);
    threads.add(thread);
    thread.start();
    return thread;
  }

  private void join() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void until(java.util.function.BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void noMoreThanTheLimitAreInsideAndNobodyIsForgotten(Order order) throws Exception {
    Stand stand = new Stand(3, order, LONG_NS, null, 1, 2);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    for (int i = 0; i < 16; i++) {
      int site = stand.sites[i % 2];
      start(
          () -> {
            for (int round = 0; round < 2_000; round++) {
              assertNull(dispatcher.enter(site));
              most.accumulateAndGet(inside.incrementAndGet(), Math::max);
              if (round % 16 == 0) {
                Thread.yield();
              }
              inside.decrementAndGet();
              dispatcher.exit(site);
            }
          });
    }
    join();
    assertTrue(most.get() <= 3, most.toString());
    assertEquals(32_000, stand.count(GateCounters.COMPLETED));
    assertEquals(0, stand.count(GateCounters.LET_THROUGH));
    assertEquals(0, stand.gate.inside());
    assertEquals(0, stand.gate.waiting());
  }

  @Test
  void whoIsInsideGoesInAgain() {
    Stand stand = stand(1);
    dispatcher.enter(stand.sites[0]);
    dispatcher.enter(stand.sites[0]);
    assertEquals(1, stand.gate.inside());
    dispatcher.exit(stand.sites[0]);
    assertEquals(1, stand.gate.inside());
    dispatcher.exit(~stand.sites[0]);
    assertEquals(0, stand.gate.inside());
    assertEquals(1, stand.count(GateCounters.FAILED));
  }

  /** The order in which callers enter, for callers that arrive in the order of the given points. */
  private List<Integer> served(Stand stand, int... points) throws Exception {
    List<Integer> served = Collections.synchronizedList(new ArrayList<>());
    dispatcher.enter(stand.sites[0]);
    for (int i = 0; i < points.length; i++) {
      int turn = i;
      start(
          () -> {
            dispatcher.enter(stand.sites[points[turn]]);
            served.add(turn);
            dispatcher.exit(stand.sites[points[turn]]);
          });
      until(() -> stand.gate.waiting() == turn + 1);
    }
    dispatcher.exit(stand.sites[0]);
    join();
    return served;
  }

  @Test
  void firstOrLastComeFirstServed() throws Exception {
    assertEquals(List.of(0, 1, 2), served(stand(1), 0, 0, 0));
    Stand lifo = new Stand(1, Order.LIFO, LONG_NS, null, 1);
    assertEquals(List.of(2, 1, 0), served(lifo, 0, 0, 0));
  }

  @Test
  void whereStaysAreLongWhoComesBackAtOnceDoesNotOvertake() throws Exception {
    Stand stand = stand(1);
    dispatcher.enter(stand.sites[0]);
    TimeUnit.MILLISECONDS.sleep(2);
    dispatcher.exit(stand.sites[0]);
    stand.gate.read();
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    dispatcher.enter(stand.sites[0]);
    start(
        () -> {
          dispatcher.enter(stand.sites[0]);
          served.add("waited");
          dispatcher.exit(stand.sites[0]);
        });
    until(() -> stand.gate.waiting() == 1);
    dispatcher.exit(stand.sites[0]);
    dispatcher.enter(stand.sites[0]);
    served.add("came back");
    dispatcher.exit(stand.sites[0]);
    join();
    assertEquals(List.of("waited", "came back"), served);
  }

  @Test
  void pointsAreServedByTheirWeights() throws Exception {
    Stand stand = new Stand(1, Order.CLASS, LONG_NS, null, 3, 1);
    List<Integer> served = served(stand, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1);
    long ofTheFirst = served.subList(0, 8).stream().filter(turn -> turn < 6).count();
    assertEquals(6, ofTheFirst, served.toString());
  }

  @Test
  void afterTheLongestWaitTheyAreLetThroughOrRefused() throws Exception {
    Stand through = new Stand(1, Order.FIFO, 1, null, 1);
    RuntimeException full = new IllegalStateException("full");
    Stand refuse = new Stand(1, Order.FIFO, 1, full, 1);
    dispatcher.enter(through.sites[0]);
    dispatcher.enter(refuse.sites[0]);
    List<RuntimeException> said = Collections.synchronizedList(new ArrayList<>());
    start(
        () -> {
          dispatcher.enter(through.sites[0]);
          assertEquals(2, through.gate.inside());
          dispatcher.exit(through.sites[0]);
          said.add(dispatcher.enter(refuse.sites[0]));
        });
    join();
    assertSame(full, said.get(0));
    assertEquals(1, through.count(GateCounters.LET_THROUGH));
    assertEquals(1, refuse.count(GateCounters.REFUSED));
    assertEquals(1, refuse.gate.inside());
    assertTrue(through.count(GateCounters.WAIT_NS) > 0);
  }

  @Test
  void anInterruptedWaiterGoesInAndStaysInterrupted() throws Exception {
    Stand stand = stand(1);
    dispatcher.enter(stand.sites[0]);
    boolean[] interrupted = new boolean[1];
    Thread waiter =
        start(
            () -> {
              dispatcher.enter(stand.sites[0]);
              interrupted[0] = Thread.currentThread().isInterrupted();
              dispatcher.exit(stand.sites[0]);
            });
    until(() -> stand.gate.waiting() == 1);
    waiter.interrupt();
    join();
    assertTrue(interrupted[0]);
    assertEquals(1, stand.gate.inside());
  }

  @Test
  void aLargerLimitLetsThemIn() throws Exception {
    Stand stand = stand(1);
    dispatcher.enter(stand.sites[0]);
    CountDownLatch in = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      start(
          () -> {
            dispatcher.enter(stand.sites[0]);
            in.countDown();
          });
    }
    until(() -> stand.gate.waiting() == 3);
    stand.gate.limit(Gate.OPEN);
    in.await();
    join();
    assertEquals(4, stand.gate.inside());
    // Permits of threads that ended inside are freed.
    dispatcher.forgetEndedThreads();
    assertEquals(1, stand.gate.inside());
  }

  @Test
  void twoGatesInTwoOrdersDoNotDeadlock() throws Exception {
    Stand a = stand(1);
    Stand b = stand(1);
    CountDownLatch bothHold = new CountDownLatch(2);
    for (Stand[] order : new Stand[][] {{a, b}, {b, a}}) {
      start(
          () -> {
            dispatcher.enter(order[0].sites[0]);
            bothHold.countDown();
            until(() -> bothHold.getCount() == 0);
            dispatcher.enter(order[1].sites[0]);
            dispatcher.exit(order[1].sites[0]);
            dispatcher.exit(order[0].sites[0]);
          });
    }
    join();
    assertEquals(1, a.count(GateCounters.OUT_OF_ORDER) + b.count(GateCounters.OUT_OF_ORDER));
    assertEquals(0, a.gate.inside() + b.gate.inside());
  }

  @Test
  void theOrderOfGatesHasNoCircle() {
    GateOrder order = new GateOrder();
    assertTrue(order.mayWait(1L << 0, 1));
    assertTrue(order.mayWait(1L << 1, 2));
    assertEquals(false, order.mayWait(1L << 2, 0));
    assertTrue(order.mayWait(1L << 0, 2));
    assertTrue(order.mayWait(1L << 3, 0));
    assertEquals(false, order.mayWait(1L << 2, 3));
    order.free(1);
    assertTrue(order.mayWait(0, 1));
  }

  @Test
  void shortStaysAreTimedNowAndThenAndStandForTheRest() {
    Stand stand = stand(1);
    for (int i = 0; i < 100_000; i++) {
      dispatcher.enter(stand.sites[0]);
      dispatcher.exit(stand.sites[0]);
    }
    ValveTotals reading = new ValveTotals(stand.gate.read());
    assertEquals(100_000, reading.completed);
    long counted = reading.latenciesSince(new ValveTotals(new long[GateCounters.LENGTH])).count();
    assertTrue(counted > 99_900 && counted <= 100_000, "" + counted);
  }
}
