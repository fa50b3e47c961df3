package io.helenus.agent.probes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.dispatch.Dispatcher;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbesTest {
  /** The numbers of the first two probes. */
  private static final int ONE = 1;

  private static final int TWO = 3;

  private final Dispatcher dispatcher = new Dispatcher();

  private Probe probe(String name) {
    int number = dispatcher.timedNumber();
    Probe probe = new Probe(name, number, dispatcher.groups(), true, true);
    dispatcher.register(number, probe, null);
    return probe;
  }

  private static Tally sum(Probe probe) {
    Tally sum = new Tally();
    probe.read().values().forEach(sum::add);
    return sum;
  }

  @Test
  void inherentTimeIsThatWithoutMeteredCallees() {
    Probe outer = probe("outer");
    Probe inner = probe("inner");
    dispatcher.enter(ONE);
    for (int i = 0; i < 3; i++) {
      dispatcher.enter(TWO);
      dispatcher.exit(i == 2 ? ~TWO : TWO);
    }
    dispatcher.exit(ONE);
    Tally out = sum(outer);
    Tally in = sum(inner);
    assertEquals(1, out.calls());
    assertEquals(3, in.calls());
    assertEquals(1, in.failed());
    assertEquals(out.totalNs() - in.totalNs(), out.inherentNs());
    assertEquals(in.totalNs(), in.inherentNs());
    assertTrue(in.maxNs() <= in.totalNs());
    Probe.Edge edge = inner.read().keySet().iterator().next();
    assertEquals(outer, edge.caller);
    assertNull(outer.read().keySet().iterator().next().caller);
  }

  @Test
  void threadsAreToldApartByTheirGroupsAndEndedOnesStayCounted() throws Exception {
    Probe probe = probe("one");
    for (String name : List.of("Reader-1", "Reader-2", "Writer:7")) {
      Thread thread =
          new Thread(
              () -> {
                dispatcher.enter(ONE);
                Thread.currentThread().setName("Renamed-1");
                dispatcher.enter(ONE);
                dispatcher.exit(ONE);
                dispatcher.exit(ONE);
              },
              name);
      thread.start();
      thread.join();
    }
    for (int round = 0; round < 2; round++) {
      Map<String, Long> calls =
          probe.read().entrySet().stream()
              .collect(
                  java.util.stream.Collectors.toMap(
                      e -> e.getKey().group.name + (e.getKey().caller == null ? "" : " within"),
                      e -> e.getValue().calls()));
      assertEquals(Map.of("Reader", 2L, "Writer", 1L, "Renamed within", 3L), calls);
      dispatcher.forgetEndedThreads();
    }
  }

  @Test
  void aThreadThatNeverEnteredMayLeaveAndALostExitIsMadeUpFor() {
    Probe outer = probe("outer");
    Probe inner = probe("inner");
    dispatcher.exit(TWO);
    dispatcher.enter(ONE);
    dispatcher.exit(TWO);
    dispatcher.enter(TWO);
    // After a stack overflow the exit of the method was not reported.
    dispatcher.exit(~ONE);
    assertEquals(1, sum(outer).failed());
    assertEquals(1, sum(inner).failed());
    for (int depth = 0; depth < 1000; depth++) {
      dispatcher.enter(ONE);
    }
    for (int depth = 0; depth < 1000; depth++) {
      dispatcher.exit(ONE);
    }
    dispatcher.enter(TWO);
    dispatcher.exit(TWO);
    assertEquals(2, sum(inner).calls());
  }

  @Test
  void whatIsNotWantedIsNotCounted() {
    int number = dispatcher.timedNumber();
    Probe probe = new Probe("guarded", number, dispatcher.groups(), false, false);
    dispatcher.register(number, probe, "yes"::equals);
    assertTrue(dispatcher.wanted("yes", number));
    assertEquals(false, dispatcher.wanted("no", number));
    dispatcher.enter(~number);
    dispatcher.exit(number);
    assertEquals(0, sum(probe).calls());
  }

  @Test
  void binsFollowOneAnother() {
    for (int bin = 0; bin < Bins.COUNT - 1; bin++) {
      assertEquals(bin, Bins.of(Bins.lowNs(bin)));
      assertEquals(bin, Bins.of(Bins.lowNs(bin + 1) - 1));
    }
    assertEquals(Bins.COUNT - 1, Bins.of(Long.MAX_VALUE));
    assertEquals(0, Bins.of(-1));
  }

  @Test
  void whatTellsLeastForItsCostIsSwitchedOffFirst() {
    Overhead.Bound bound = new Overhead.Bound(0.02, 1_000, 2);
    List<Overhead.Activity> uses =
        List.of(
            new Overhead.Activity(1, 100_000, 50_000),
            new Overhead.Activity(2, 600_000, 300),
            new Overhead.Activity(3, 200_000, 200));
    // 900,000 calls of 60 ns are 2.7 % of two CPUs.
    assertEquals(0.027, Overhead.share(uses, 60, 2), 1e-9);
    Map<Integer, String> off = Overhead.tooMuch(uses, 60, bound);
    assertEquals(List.of(2), List.copyOf(off.keySet()));
    assertTrue(off.get(2).contains("below the threshold of 1000 ns"), off.get(2));
    assertEquals(Map.of(), Overhead.tooMuch(uses, 40, bound));
    // If no probe is below the threshold, the limit on the overhead still applies.
    List<Overhead.Activity> hot =
        List.of(new Overhead.Activity(4, 1e6, 5_000), new Overhead.Activity(5, 1e6, 9_000));
    assertEquals(List.of(4, 5), List.copyOf(Overhead.tooMuch(hot, 60, bound).keySet()));
  }
}
