package io.helenus.agent.points;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.helenus.agent.Hook;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Woven methods call the hook once on entry and once on each exit. */
class WeaverTest {
  /** The class that these tests weave. */
  public static class Subject {
    public boolean big;

    public long twice(long n, double d, String s) {
      if (n < 0) {
        throw new IllegalArgumentException(s);
      }
      long sum = (long) d;
      for (int i = 0; i < 2; i++) {
        try {
          sum += n;
        } finally {
          synchronized (this) {
            sum += 0;
          }
        }
      }
      return n > 100 ? -1 : sum;
    }

    public static Object[] same(Object[] a) {
      return a;
    }

    public Object handOver(Object task) {
      // A method with a stack map frame at its first instruction.
      while (task != null) {
        task = "own";
        if (!big) {
          break;
        }
      }
      return task;
    }

    public void add(List<Object> task) {
      task.add("own");
    }

    public int recurse(int n) {
      return n == 0 ? 0 : 1 + recurse(n - 1);
    }
  }

  private final List<String> calls = new ArrayList<>();
  private final List<Object> taken = new ArrayList<>();
  private RuntimeException refusal;

  @BeforeEach
  void hold() {
    Hook.hold(
        site -> {
          calls.add("enter " + site);
          return refusal;
        },
        site -> calls.add("exit " + site),
        (about, site) -> ((Boolean) new Guard("big").test(about)),
        (executor, task) -> taken.contains(task));
  }

  @AfterEach
  void release() {
    Hook.release();
  }

  private static Class<?> woven(Map<String, List<Weaver.HookCall>> calls) throws Exception {
    byte[] bytes = Weaver.weave(file(Subject.class), calls);
    return new ClassLoader(WeaverTest.class.getClassLoader()) {
      Class<?> define() {
        return defineClass(null, bytes, 0, bytes.length);
      }
    }.define();
  }

  private static byte[] file(Class<?> type) throws IOException {
    String name = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(name)) {
      return in.readAllBytes();
    }
  }

  private static Weaver.HookCall call(int site) {
    return new Weaver.HookCall(site, Weaver.Kind.AROUND);
  }

  @Test
  void everyWayOutIsSeen() throws Exception {
    Class<?> type = woven(Map.of("twice(JDLjava/lang/String;)J", List.of(call(3), call(70_000))));
    Object subject = type.getConstructor().newInstance();
    java.lang.reflect.Method twice =
        type.getMethod("twice", long.class, double.class, String.class);
    assertEquals(20L, twice.invoke(subject, 10L, 0.0, ""));
    assertEquals(List.of("enter 3", "enter 70000", "exit 70000", "exit 3"), calls);
    calls.clear();
    assertEquals(-1L, twice.invoke(subject, 101L, 0.0, ""));
    assertEquals(List.of("enter 3", "enter 70000", "exit 70000", "exit 3"), calls);
    calls.clear();
    Throwable thrown =
        assertThrows(InvocationTargetException.class, () -> twice.invoke(subject, -1L, 0.0, "mine"))
            .getCause();
    assertEquals("mine", thrown.getMessage());
    assertEquals(List.of("enter 3", "enter 70000", "exit " + ~70_000, "exit " + ~3), calls);
  }

  @Test
  void aRefusedCallDoesNotRunAndIsNotLeft() throws Exception {
    Class<?> type = woven(Map.of("same([Ljava/lang/Object;)[Ljava/lang/Object;", List.of(call(1))));
    java.lang.reflect.Method same = type.getMethod("same", Object[].class);
    refusal = new IllegalStateException("full");
    Object argument = new Object[0];
    Throwable thrown =
        assertThrows(InvocationTargetException.class, () -> same.invoke(null, argument)).getCause();
    assertSame(refusal, thrown);
    assertEquals(List.of("enter 1"), calls);
  }

  @Test
  void aGuardSaysWhichCallsAreMeant() throws Exception {
    Class<?> type =
        woven(Map.of("recurse(I)I", List.of(new Weaver.HookCall(5, Weaver.Kind.AROUND_GUARDED))));
    Object subject = type.getConstructor().newInstance();
    java.lang.reflect.Method recurse = type.getMethod("recurse", int.class);
    recurse.invoke(subject, 0);
    type.getField("big").set(subject, true);
    recurse.invoke(subject, 0);
    assertEquals(List.of("enter " + ~5, "exit 5", "enter 5", "exit 5"), calls);
  }

  @Test
  void whatIsTakenGoesNoFurther() throws Exception {
    Weaver.HookCall take = new Weaver.HookCall(0, Weaver.Kind.DIVERT);
    Class<?> type =
        woven(
            Map.of(
                "handOver(Ljava/lang/Object;)Ljava/lang/Object;",
                List.of(take, call(4)),
                "add(Ljava/util/List;)V",
                List.of(take)));
    Object subject = type.getConstructor().newInstance();
    java.lang.reflect.Method handOver = type.getMethod("handOver", Object.class);
    List<Object> list = new ArrayList<>();
    taken.add("mine");
    assertEquals("mine", handOver.invoke(subject, "mine"));
    assertEquals("own", handOver.invoke(subject, "another"));
    type.getMethod("add", List.class).invoke(subject, list);
    taken.add(list);
    type.getMethod("add", List.class).invoke(subject, list);
    assertEquals(List.of("own"), list);
    Hook.release();
    assertEquals("own", handOver.invoke(subject, "mine"));
  }

  @Test
  void aFaultOfTheAgentIsSwallowedAndCounted() throws Exception {
    Hook.release();
    Hook.hold(
        site -> {
          throw new IllegalStateException();
        },
        site -> {
          throw new StackOverflowError();
        },
        (about, site) -> {
          throw new IllegalStateException();
        },
        (executor, task) -> {
          throw new IllegalStateException();
        });
    Class<?> type =
        woven(
            Map.of(
                "recurse(I)I",
                List.of(call(5), new Weaver.HookCall(6, Weaver.Kind.AROUND_GUARDED))));
    long before = Hook.faults();
    Object subject = type.getConstructor().newInstance();
    assertEquals(1, type.getMethod("recurse", int.class).invoke(subject, 1));
    assertEquals(before + 10, Hook.faults());
  }

  @Test
  void anotherMayNotHoldTheHook() {
    assertEquals(
        false, Hook.hold(site -> null, site -> {}, (about, site) -> true, (about, task) -> true));
  }

  @Test
  void classFilesTellWhatCanBeWoven() throws Exception {
    List<String> methods =
        ClassFiles.methods(file(Subject.class)).stream()
            .map(Method::toString)
            .collect(Collectors.toList());
    String name = Subject.class.getName();
    assertEquals(
        List.of(
            name + ".twice(long, double, java.lang.String)",
            name + ".same(java.lang.Object[])",
            name + ".handOver(java.lang.Object)",
            name + ".add(java.util.List)",
            name + ".recurse(int)"),
        methods);
  }
}
