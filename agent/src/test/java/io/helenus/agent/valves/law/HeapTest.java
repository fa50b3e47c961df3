package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class HeapTest {
  private final Windows windows = Windows.of(125);
  private final Heap heap = new Heap();

  @Test
  void aHeapThatHardlyCollectsRemembersNothing() {
    pass(40, 0.01);
    assertEquals(0, heap.remembersNs(true));
    assertEquals(0, heap.fillsNs());
  }

  @Test
  void whatCollectionsTakeIsKnownTheSoonerTheMoreTheyTake() {
    pass(40, 0.05);
    long fillsNs = heap.fillsNs();
    assertTrue(fillsNs > 0);
    pass(40, 0.3);
    assertTrue(heap.fillsNs() > 0 && heap.fillsNs() < fillsNs);
  }

  @Test
  void whatCollectionsWillTakeIsKnownSoonerWhereTheOldGenerationIsBeingFilled() {
    pass(40, 0.03);
    long fillsNs = heap.fillsNs();
    windows.promotedPerS(0.02);
    pass(40, 0.03);
    assertTrue(heap.fillsNs() > 0 && heap.fillsNs() < fillsNs);
    windows.promotedPerS(Double.NaN);
    pass(400, 0.03);
    assertTrue(heap.fillsNs() < fillsNs, "what is not known says nothing");
  }

  @Test
  void itIsBeingFilledUntilItHasRoomNoMoreOrCollectionsShowIt() {
    long soonNs = Heap.SOON_NS;
    long longNs = Heap.SLOW_NS;
    heap.change(windows.build().endNs);
    pass(40, 0.03);
    assertFalse(heap.isFilling(soonNs, longNs), "nothing is promoted");
    windows.promotedPerS(0.02);
    pass(80, 0.03);
    assertTrue(heap.isFilling(soonNs, longNs));
    assertFalse(heap.isFilling(soonNs, 10_000_000_000L), "for longer than that");
    pass(120, 0.03);
    assertFalse(heap.isFilling(soonNs, longNs), "two hundred windows of 125 ms at 2 % per second");
    heap.change(windows.build().endNs);
    windows.promotedPerS(0);
    pass(80, 0.03);
    assertTrue(heap.isFilling(soonNs, longNs), "it was, and it begins slowly");
    pass(80, 0.03);
    assertFalse(heap.isFilling(soonNs, longNs), "it does not");
    windows.promotedPerS(0.02);
    pass(80, 0.2);
    assertFalse(heap.isFilling(soonNs, longNs), "it is full");
  }

  @Test
  void afterCollectionsAChangeTakesTimeAndWithFewerInsideOnlyOneUpwards() {
    pass(40, 0.2);
    assertTrue(heap.remembersNs(false) > 0);
    pass(80, 0.01);
    assertEquals(0, heap.remembersNs(false));
    assertTrue(heap.remembersNs(true) > 0, "it fills again with more inside");
    heap.clear();
    assertEquals(0, heap.remembersNs(true), "of another workload nothing is known");
  }

  @Test
  void aChangeIsNotOverWhileTheHeapRemembers() {
    pass(40, 0.2);
    Settling settling = new Settling();
    long changedNs = windows.build().endNs;
    settling.begin(changedNs, heap.remembersNs(false));
    windows.there(8, 100);
    Window window = windows.limit(8).build();
    while (window.endNs - changedNs < heap.remembersNs(false)) {
      assertFalse(settling.over(window, 0, false));
      window = windows.build();
    }
    assertTrue(settling.over(window, 0, false));
  }

  @Test
  void collectionsThatTakePlainlyMoreHaveFilledIt() {
    assertFalse(heap.hasFilled(shares(0.2, 0.2)), "nothing was learned yet");
    heap.learned(shares(0, 0, 0.02));
    heap.learned(shares(0.2, 0.2));
    assertTrue(heap.hasFilled(shares(0.08, 0.09, 0.1)), "the first is what counts");
    assertFalse(heap.hasFilled(shares(0.04, 0.04, 0.04)), "by too little");
    assertFalse(heap.hasFilled(shares(0, 1, 0, 0, 0, 0)), "by chance");
    heap.clear();
    assertFalse(heap.hasFilled(shares(0.14, 0.15, 0.16)), "of another workload nothing is known");
  }

  @Test
  void withMoreInsideAgainItRefillsUntilCollectionsAreAsOftenOrForTenSeconds() {
    pass(80, 0.2);
    pass(80, 0);
    assertTrue(heap.refills(0.2, 5_000_000_000L));
    assertFalse(heap.refills(0.2, 10_000_000_000L), "whatever they were for, it has gone");
    assertFalse(heap.refills(0.02, 0), "collections did not matter");
    pass(40, 0.2);
    assertFalse(heap.refills(0.2, 5_000_000_000L));
  }

  private static Sample shares(double... shares) {
    Sample sample = new Sample();
    DoubleStream.of(shares).forEach(sample::add);
    return sample;
  }

  private void pass(int times, double gcShare) {
    windows.gcShare(gcShare);
    for (int i = 0; i < times; i++) {
      heap.add(windows.build());
    }
  }
}
