package io.helenus.agent.probes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.crossing.Crossings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbesTest {
  /** The numbers of the first two probes. */
  private static final int ONE = 1;

  private static final int TWO = 3;

  private final Crossings crossings = new Crossings();

  private Probe probe(String name) {
    int number = crossings.timedNumber();
    Probe probe = new Probe(name, number, crossings.groups(), true, true);
    crossings.site(number, probe, null);
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
    crossings.enter(ONE);
    for (int i = 0; i < 3; i++) {
      crossings.enter(TWO);
      crossings.exit(i == 2 ? ~TWO : TWO);
    }
    crossings.exit(ONE);
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
                crossings.enter(ONE);
                Thread.currentThread().setName("Renamed-1");
                crossings.enter(ONE);
                crossings.exit(ONE);
                crossings.exit(ONE);
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
      crossings.forgetEndedThreads();
    }
  }

  @Test
  void aThreadThatNeverEnteredMayLeaveAndALostExitIsMadeUpFor() {
    Probe outer = probe("outer");
    Probe inner = probe("inner");
    crossings.exit(TWO);
    crossings.enter(ONE);
    crossings.exit(TWO);
    crossings.enter(TWO);
    // The stack overflowed: nobody said that it was left.
    crossings.exit(~ONE);
    assertEquals(1, sum(outer).failed());
    assertEquals(1, sum(inner).failed());
    for (int depth = 0; depth < 1000; depth++) {
      crossings.enter(ONE);
    }
    for (int depth = 0; depth < 1000; depth++) {
      crossings.exit(ONE);
    }
    crossings.enter(TWO);
    crossings.exit(TWO);
    assertEquals(2, sum(inner).calls());
  }

  @Test
  void whatIsNotWantedIsNotCounted() {
    int number = crossings.timedNumber();
    Probe probe = new Probe("guarded", number, crossings.groups(), false, false);
    crossings.site(number, probe, "yes"::equals);
    assertTrue(crossings.wanted("yes", number));
    assertEquals(false, crossings.wanted("no", number));
    crossings.enter(~number);
    crossings.exit(number);
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
    List<Overhead.Use> uses =
        List.of(
            new Overhead.Use(1, 100_000, 50_000),
            new Overhead.Use(2, 600_000, 300),
            new Overhead.Use(3, 200_000, 200));
    // 900,000 calls of 60 ns are 2.7 % of two CPUs.
    assertEquals(0.027, Overhead.share(uses, 60, 2), 1e-9);
    Map<Integer, String> off = Overhead.tooMuch(uses, 60, bound);
    assertEquals(List.of(2), List.copyOf(off.keySet()));
    assertTrue(off.get(2).contains("below the threshold of 1000 ns"), off.get(2));
    assertEquals(Map.of(), Overhead.tooMuch(uses, 40, bound));
    // Where no probe is below the threshold the bound holds all the same.
    List<Overhead.Use> hot =
        List.of(new Overhead.Use(4, 1e6, 5_000), new Overhead.Use(5, 1e6, 9_000));
    assertEquals(List.of(4, 5), List.copyOf(Overhead.tooMuch(hot, 60, bound).keySet()));
  }
}
