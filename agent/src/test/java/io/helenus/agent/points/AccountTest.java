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

class AccountTest {
  @TempDir Path folder;

  @Test
  void onlyWhatMayChangeClassesHasAccountKept() throws Exception {
    String changes = jar("changes", "Can-Retransform-Classes", "true");
    String redefines = jar("redefines", "Can-Redefine-Classes", "TRUE");
    String measures = jar("measures", "Premain-Class", "org.github.jamm.MemoryMeter");
    String doesNot = jar("not", "Can-Retransform-Classes", "false");
    kept(true, "-Xmx1g", "-javaagent:" + changes + "=ready");
    kept(true, "-javaagent:" + redefines);
    kept(true, "-javaagent:" + measures, "-agentlib:jdwp=transport=dt_socket,server=y");
    kept(false);
    kept(false, "-Xmx1g", "-javaagent:" + measures, "-javaagent:" + doesNot + "=a=b");
    kept(false, "-javaagent:" + folder.resolve("gone.jar"));
  }

  private static void kept(boolean expected, String... arguments) {
    assertEquals(expected, Account.isKept(List.of(arguments)), () -> String.join(" ", arguments));
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
