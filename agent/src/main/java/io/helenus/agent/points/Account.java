package io.helenus.agent.points;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Whether a JVM has kept account, from its start on, of which compiled code depends on which class.
 *
 * <p>HotSpot does so only if something that may change classes was there when it started. One that
 * has not makes up for it when a class is changed for the first time: it throws all of its compiled
 * code away.
 */
final class Account {
  private static final String AGENT = "-javaagent:";
  private static final List<String> CAPABILITIES =
      List.of("Can-Retransform-Classes", "Can-Redefine-Classes");

  private Account() {}

  static boolean isKept() {
    return isKept(ManagementFactory.getRuntimeMXBean().getInputArguments());
  }

  static boolean isKept(List<String> arguments) {
    return arguments.stream()
        .anyMatch(
            argument ->
                argument.startsWith("-agentlib:jdwp")
                    || argument.startsWith("-Xrunjdwp")
                    || (argument.startsWith(AGENT) && changesClasses(jar(argument))));
  }

  private static String jar(String argument) {
    int options = argument.indexOf('=');
    return argument.substring(AGENT.length(), options < 0 ? argument.length() : options);
  }

  private static boolean changesClasses(String path) {
    try (JarFile jar = new JarFile(path)) {
      Manifest manifest = jar.getManifest();
      Attributes attributes = manifest == null ? new Attributes() : manifest.getMainAttributes();
      return CAPABILITIES.stream()
          .anyMatch(name -> "true".equalsIgnoreCase(attributes.getValue(name)));
    } catch (IOException e) {
      // It is not there any more: better to say too much than too little.
      return false;
    }
  }
}
