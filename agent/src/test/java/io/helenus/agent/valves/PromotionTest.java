package io.helenus.agent.valves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class PromotionTest {
  private long used = 300;
  private long max = 1000;

  private final MemoryPoolMXBean old =
      (MemoryPoolMXBean)
          Proxy.newProxyInstance(
              PromotionTest.class.getClassLoader(),
              new Class<?>[] {MemoryPoolMXBean.class},
              (proxy, method, arguments) -> new MemoryUsage(0, used, 500, max));

  @Test
  void whatTheOldGenerationHasGrownByIsAShareOfItsCapacity() {
    Promotion promotion = new Promotion(old);
    used = 350;
    assertEquals(0.05, promotion.share(), 1e-9);
    promotion.begin();
    assertEquals(0, promotion.share());
  }

  @Test
  void whatWasCollectedIsNotPromoted() {
    Promotion promotion = new Promotion(old);
    used = 100;
    assertEquals(0, promotion.share());
  }

  @Test
  void whereNoCapacityIsSaidItIsWhatTheHeapHasNow() {
    max = -1;
    Promotion promotion = new Promotion(old);
    used = 350;
    assertEquals(0.1, promotion.share(), 1e-9);
  }

  @Test
  void aCollectorWithoutAnOldGenerationPromotesNothingThatIsKnown() {
    assertTrue(Double.isNaN(new Promotion(null).share()));
  }

  @Test
  void theOldGenerationOfThisJvmIsFound() {
    assertTrue(new Promotion().share() >= 0);
  }
}
