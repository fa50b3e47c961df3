package io.helenus.agent.valves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.points.Refusal;
import io.helenus.agent.valves.law.Decision;
import io.helenus.agent.valves.law.Law;
import io.helenus.agent.valves.law.Laws;
import io.helenus.agent.valves.law.Window;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValveTest {
  private static final long MS = 1_000_000;
  private static final long WINDOW_NS = 250 * MS;

  private static final class Fake implements Enforcement {
    int limit;
    int inside;
    int waiting;
    int elsewhere;
    boolean removed;
    final long[] counts = new long[GateCounters.LENGTH];

    @Override
    public void limit(int limit) {
      this.limit = limit;
    }

    @Override
    public void policy(Settings settings) {}

    @Override
    public int inside() {
      return inside;
    }

    @Override
    public int waiting() {
      return waiting;
    }

    @Override
    public int elsewhere() {
      return elsewhere;
    }

    @Override
    public ValveTotals read() {
      return new ValveTotals(counts.clone());
    }

    @Override
    public long left() {
      return counts[GateCounters.COMPLETED];
    }

    @Override
    public void remove() {
      removed = true;
    }
  }

  private final Fake fake = new Fake();
  private long nowNs = System.nanoTime();
  private Window seen;

  private Law law(Function<Window, Decision> next) {
    return new Law() {
      @Override
      public long windowNs() {
        return WINDOW_NS;
      }

      @Override
      public Decision next(Window window) {
        seen = window;
        return next.apply(window);
      }
    };
  }

  private Valve valve(Law law, Object... more) {
    Map<String, Object> given = new HashMap<>(Map.of("name", "v", "at", "a.B.c", "law", "fixed"));
    for (int i = 0; i < more.length; i += 2) {
      given.put((String) more[i], more[i + 1]);
    }
    Valve valve = new Valve(new Settings(given), law, fake);
    // On a busy machine this may have taken a while.
    nowNs = System.nanoTime();
    return valve;
  }

  /** Calls the valve as its thread does; returns the last row, if a window ended. */
  private WindowRow pass(Valve valve, long forMs) {
    WindowRow last = null;
    for (long ms = 0; ms < forMs; ms += 10) {
      nowNs += 10 * MS;
      WindowRow row = valve.tick(nowNs, 1);
      last = row == null ? last : row;
    }
    return last;
  }

  @Test
  void aFixedLimitHoldsFromTheBeginning() {
    Valve valve = valve(Laws.of("fixed", Map.of("limit", "3"), 1, 64), "max", 64L);
    assertEquals(3, fake.limit);
    valve.set(valve.settings(), Laws.of("fixed", Map.of("limit", "9"), 1, 64));
    assertEquals(9, fake.limit);
  }

  @Test
  void aWindowHasWhatWasMeasuredInIt() {
    Valve valve = valve(law(w -> new Decision(7, "since it is better")), "max", 64L);
    assertEquals(64, fake.limit);
    pass(valve, 300);
    fake.inside = 5;
    fake.waiting = 2;
    fake.elsewhere = 7;
    fake.counts[GateCounters.COMPLETED] = 100;
    fake.counts[GateCounters.REFUSED] = 3;
    fake.counts[GateCounters.LET_THROUGH] = 4;
    fake.counts[GateCounters.TOTAL_NS] = 500 * MS;
    fake.counts[GateCounters.WAIT_NS] = 50 * MS;
    fake.counts[GateCounters.LATENCIES + 200] = 100;
    WindowRow row = pass(valve, 300);
    assertEquals(7, fake.limit);
    assertEquals(100, seen.completed);
    assertEquals(7, seen.refused);
    assertEquals(100, seen.latencies.count());
    assertTrue(seen.inFlight > 3 && seen.inFlight <= 5);
    assertTrue(seen.limited);
    assertTrue(seen.elsewhere > 4 && seen.elsewhere <= 7);
    assertEquals(seen.inFlight + seen.waiting + seen.elsewhere, seen.inSystem(), 1e-9);
    assertEquals(seen.elsewhere, row.values().get("elsewhere"));
    assertEquals(3L, row.values().get("refused"));
    assertEquals(4L, row.values().get("let_through"));
    assertEquals(5 * MS, row.values().get("mean_ns"));
    assertEquals("since it is better", row.values().get("reason"));
    pass(valve, 300);
    assertEquals(0, seen.completed);
  }

  @Test
  void theLimitStaysBetweenItsBounds() {
    Valve low = valve(law(w -> new Decision(-5, "")), "min", 4L, "max", 8L);
    pass(low, 300);
    assertEquals(4, fake.limit);
    Valve high = valve(law(w -> new Decision(1_000_000, "")), "min", 4L, "max", 8L);
    pass(high, 300);
    assertEquals(8, fake.limit);
  }

  @Test
  void theWatchdogOpensWhereNobodyComesOut() {
    Valve valve = valve(law(w -> new Decision(1, "")), "watchdog_ms", 1_000L);
    fake.waiting = 3;
    fake.inside = 1;
    for (int i = 0; i < 20; i++) {
      pass(valve, 100);
      fake.counts[GateCounters.COMPLETED]++;
    }
    assertEquals(1, fake.limit);
    WindowRow row = pass(valve, 1_500);
    assertEquals(Gate.OPEN, fake.limit);
    assertTrue(row.values().get("reason").toString().startsWith("nothing came out for"));
    assertNull(row.values().get("next_limit"));
    assertEquals("open", valve.state().get("state"));
    valve.set(valve.settings().with(Map.of("max", 16L)), law(w -> new Decision(2, "")));
    pass(valve, 300);
    assertEquals(2, fake.limit);
  }

  @Test
  void aPauseOfTheJvmDoesNotWakeTheWatchdog() {
    Valve valve = valve(law(w -> new Decision(1, "")), "watchdog_ms", 1_000L);
    fake.waiting = 3;
    pass(valve, 100);
    nowNs += 30_000 * MS;
    valve.tick(nowNs, 1);
    assertEquals("on", valve.state().get("state"));
  }

  @Test
  void aLeaseThatIsNotRenewedOpensTheValveAndOneThatIsClosesItAgain() {
    Valve valve = valve(law(w -> new Decision(3, "")), "lease_ms", 1_000L);
    pass(valve, 900);
    assertEquals(3, fake.limit);
    WindowRow row = pass(valve, 600);
    assertEquals(Gate.OPEN, fake.limit);
    assertEquals("the lease was not renewed", row.values().get("reason"));
    valve.renew();
    assertEquals(3, fake.limit);
  }

  @Test
  void anOpenedValveIsOpenedOnce() {
    Valve valve = valve(law(w -> new Decision(3, "")));
    assertTrue(valve.open("it failed"));
    assertFalse(valve.open("again"));
    assertEquals("it failed", valve.state().get("open_reason"));
    valve.remove();
    assertTrue(fake.removed);
  }

  @Test
  void windowsThatNobodyPassedHaveNoMeans() {
    WindowRow row = pass(valve(law(w -> new Decision(3, ""))), 300);
    assertNotNull(row);
    assertNull(row.values().get("mean_ns"));
    assertNull(row.values().get("p99_ns"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'at':'a.B.c','law':'fixed'}",
        "{'name':'v','law':'fixed'}",
        "{'name':'v','at':'a.B.c'}",
        "{'name':'v','at':'a.B.c','stage':'read','law':'fixed'}",
        "{'name':'v','stage':'reads','law':'fixed'}",
        "{'name':'v','at':'a.B.c','law':'fixed','min':9,'max':8}",
        "{'name':'v','at':'a.B.c','law':'fixed','min':0}",
        "{'name':'v','at':'a.B.c','law':'fixed','order':'random'}",
        "{'name':'v','at':'a.B.c','law':'fixed','maks':8}",
        "{'name':'v','at':'a.B.c','law':'fixed','weights':{'a.B.c':0}}",
      })
  void settingsThatAreWrongSayHowTheyShouldBe(String json) {
    Map<?, ?> given = (Map<?, ?>) io.helenus.agent.core.Json.parse(json.replace('\'', '"'));
    Refusal refusal = assertThrows(Refusal.class, () -> new Settings(given));
    assertTrue(refusal.hint.length() > 5);
  }

  @Test
  void whereAValveStandsCanNotChange() {
    Settings settings = new Settings(Map.of("name", "v", "at", "a.B.c", "law", "fixed"));
    assertThrows(Refusal.class, () -> settings.with(Map.of("at", "a.B.d")));
    assertEquals(16, settings.with(Map.of("max", 16L)).max);
  }
}
