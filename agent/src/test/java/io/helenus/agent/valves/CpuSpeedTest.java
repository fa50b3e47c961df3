package io.helenus.agent.valves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

class CpuSpeedTest {
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final CpuSpeed speed = new CpuSpeed();

  /** The time that it says a piece takes is the time that the thread has taken. */
  @Test
  void aReadingIsTheCpuTimeOfThisThread() throws InterruptedException {
    double saysNs = 0;
    long beforeNs = threads.getCurrentThreadCpuTime();
    for (int i = 0; i < 1000; i++) {
      saysNs += 1e9 / speed.read();
      if (i % 100 == 0) {
        // Others may have the CPU meanwhile.
        Thread.sleep(5);
      }
    }
    double tookNs = threads.getCurrentThreadCpuTime() - beforeNs;
    assertTrue(saysNs < tookNs, saysNs + " of " + tookNs);
    assertEquals(1, saysNs / tookNs, 0.5);
    speed.close();
    assertEquals(0, speed.read(), "nothing is known after its end");
  }
}
