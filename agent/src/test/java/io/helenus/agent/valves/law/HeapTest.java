package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
  void collectionsThatThereWereNoneOfFillIt() {
    pass(40, 0.01);
    heap.learned();
    pass(40, 0.01);
    assertFalse(heap.hasFilled());
    pass(40, 0.2);
    assertTrue(heap.hasFilled());
    heap.learned();
    pass(40, 0.4);
    assertFalse(heap.hasFilled(), "it was full before");
  }

  private void pass(int times, double gcShare) {
    windows.gcShare(gcShare);
    for (int i = 0; i < times; i++) {
      heap.add(windows.build());
    }
  }
}
