package io.helenus.agent.points;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PatternTest {
  private static final Method PUT =
      new Method("a.b.Outer$Map", "put", "(Ljava/lang/String;I[J)V", 0);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.b.Outer$Map.put | true",
        "a.b.Outer$Map.p* | true",
        "a.b.*.*t | true",
        "a.b.Outer$Map.put(String, int, long[]) | true",
        "a.b.Outer$Map.put(java.lang.String,int,..) | true",
        "a.b.Outer$Map.put(..) | true",
        "a.b.Outer$Map.put(String, int) | false",
        "a.b.Outer$Map.put() | false",
        "a.b.Outer$Map.get | false",
        "Outer$Map.put | false",
        "a.b.Outer.put | false",
      })
  void matches(String pattern, boolean expected) {
    Pattern p = new Pattern(pattern);
    assertEquals(expected, p.matchesClass(PUT.className) && p.matchesMethod(PUT));
  }

  @Test
  void thePackageMayBeLeftOut() {
    assertTrue(new Pattern("Outer$Map.put").matchesShortly(PUT.className));
    assertTrue(new Pattern("*Map.put").matchesShortly(PUT.className));
    assertFalse(new Pattern("b.Outer$Map.put").matchesShortly(PUT.className));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "put", ".put", "a.", "a.b(", "a.b)c("})
  void whatIsNoPatternIsRefused(String text) {
    assertThrows(Refusal.class, () -> new Pattern(text));
  }

  @Test
  void theNearestNamesComeFirst() {
    assertEquals(
        List.of("mutate", "mutateAll"),
        Nearest.to("mutat", List.of("mutateAll", "read", "mutate", "executeInternally")));
  }

  @Test
  void noGateStandsWhereOthersWait() {
    for (String name :
        List.of(
            "org.apache.cassandra.db.commitlog.CommitLog.add",
            "org.apache.cassandra.net.InboundConnectionInitiator.x",
            "org.apache.cassandra.utils.memory.MemtableReclaimer.x",
            "io.netty.channel.nio.NioEventLoop.run")) {
      int dot = name.lastIndexOf('.');
      Method method = new Method(name.substring(0, dot), name.substring(dot + 1), "()V", 0);
      assertTrue(ForbiddenGates.reason(method).length() > 10, name);
    }
    assertTrue(ForbiddenGates.reason(new Method("a.B", "c", "()V", 0x20)).contains("lock"));
  }
}
