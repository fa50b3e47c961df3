package io.helenus.agent.points;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The named points exist in releases of their line. Their class files are read without being run.
 */
class PresetTest {
  static Stream<String> lines() {
    return Preset.LINES.stream();
  }

  private static List<Method> methods(JarFile jar, String className) throws IOException {
    String file = className.replace('.', '/') + ".class";
    assertNotNull(jar.getEntry(file), className);
    try (InputStream in = jar.getInputStream(jar.getEntry(file))) {
      return ClassFiles.methods(in.readAllBytes());
    }
  }

  @ParameterizedTest
  @MethodSource("lines")
  void everyNamedPointIsOneMethod(String line) throws IOException {
    Map<String, String> weavings = new HashMap<>();
    try (JarFile jar = new JarFile(Path.of("target", "cassandra", line + ".jar").toFile())) {
      for (Preset.Entry entry : Preset.read(line).entries().values()) {
        List<Method> matching =
            methods(jar, entry.pattern.className).stream()
                .filter(entry.pattern::matchesMethod)
                .collect(Collectors.toList());
        assertEquals(1, matching.size(), entry.name + ": " + matching);
        Method method = matching.get(0);
        assertFalse(entry.guard != null && method.isStatic(), entry.name);
        if (entry.mayGate) {
          assertNull(ForbiddenGates.reason(method), entry.name);
        }
        weavings.put(method.name + method.descriptor, method.className);
      }
      // Weaving works: the verifier accepts the stack map frames of real code.
      for (String className : List.copyOf(weavings.values())) {
        Map<String, List<Weaver.HookCall>> dispatcher = new HashMap<>();
        weavings
            .keySet()
            .forEach(m -> dispatcher.put(m, List.of(new Weaver.HookCall(7, Weaver.Kind.AROUND))));
        String file = className.replace('.', '/') + ".class";
        byte[] woven =
            Weaver.weave(jar.getInputStream(jar.getEntry(file)).readAllBytes(), dispatcher);
        assertEquals(
            new ArrayList<>(methods(jar, className)), new ArrayList<>(ClassFiles.methods(woven)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("lines")
  void tasksAreHandedOverByOneMethod(String line) throws IOException {
    String file = "org/apache/cassandra/concurrent/SEPExecutor.class";
    try (JarFile jar = new JarFile(Path.of("target", "cassandra", line + ".jar").toFile())) {
      byte[] bytes = jar.getInputStream(jar.getEntry(file)).readAllBytes();
      List<Method> handsOver =
          ClassFiles.methods(bytes).stream()
              .filter(method -> method.name.equals("addTask"))
              .collect(Collectors.toList());
      assertEquals(1, handsOver.size(), handsOver.toString());
      Method method = handsOver.get(0);
      Weaver.HookCall take = new Weaver.HookCall(7, Weaver.Kind.DIVERT);
      byte[] woven = Weaver.weave(bytes, Map.of(method.name + method.descriptor, List.of(take)));
      assertEquals(ClassFiles.methods(bytes), ClassFiles.methods(woven));
    }
  }
}
