package io.helenus.agent.points;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DependencyTrackingTest {
  @TempDir Path folder;

  @Test
  void trackingIsOnWithAnAgentThatMayChangeClasses() throws Exception {
    String changes = jar("changes", "Can-Retransform-Classes", "true");
    String redefines = jar("redefines", "Can-Redefine-Classes", "TRUE");
    String measures = jar("measures", "Premain-Class", "org.github.jamm.MemoryMeter");
    String doesNot = jar("not", "Can-Retransform-Classes", "false");
    tracks(true, "-Xmx1g", "-javaagent:" + changes + "=ready");
    tracks(true, "-javaagent:" + redefines);
    tracks(true, "-javaagent:" + measures, "-agentlib:jdwp=transport=dt_socket,server=y");
    tracks(false);
    tracks(false, "-Xmx1g", "-javaagent:" + measures, "-javaagent:" + doesNot + "=a=b");
    tracks(false, "-javaagent:" + folder.resolve("gone.jar"));
  }

  private static void tracks(boolean expected, String... arguments) {
    assertEquals(
        expected, DependencyTracking.isOn(List.of(arguments)), () -> String.join(" ", arguments));
  }

  private String jar(String name, String attribute, String value) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(new Attributes.Name(attribute), value);
    Path path = folder.resolve(name + ".jar");
    new JarOutputStream(Files.newOutputStream(path), manifest).close();
    return path.toString();
  }
}
