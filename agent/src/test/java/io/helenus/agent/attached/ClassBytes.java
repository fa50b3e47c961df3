package io.helenus.agent.attached;

import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** A second agent in the target, which reads the current bytecode of its classes. */
public final class ClassBytes {
  private static Instrumentation instrumentation;

  private ClassBytes() {}

  public static void agentmain(String options, Instrumentation given) {
    instrumentation = given;
  }

  /** A jar that makes an agent of this class, which is on the target's class path. */
  static Path jar(Path folder) throws Exception {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.putValue("Agent-Class", ClassBytes.class.getName());
    attributes.putValue("Can-Retransform-Classes", "true");
    Path jar = folder.resolve("class-bytes.jar");
    try (OutputStream out = Files.newOutputStream(jar)) {
      new JarOutputStream(out, manifest).close();
    }
    return jar;
  }

  /** The class files that the tests weave into, as the JVM has them now, in Base64. */
  static Map<String, String> files() throws Exception {
    Map<String, String> files = new TreeMap<>();
    ClassFileTransformer look =
        new ClassFileTransformer() {
          @Override
          public byte[] transform(
              ClassLoader loader,
              String name,
              Class<?> type,
              ProtectionDomain domain,
              byte[] bytes) {
            files.put(name, Base64.getEncoder().encodeToString(bytes));
            return null;
          }
        };
    instrumentation.addTransformer(look, true);
    instrumentation.retransformClasses(Work.class, Server.class);
    instrumentation.removeTransformer(look);
    return files;
  }
}
