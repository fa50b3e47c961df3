package io.helenus.agent.points;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Whether a JVM keeps account of which compiled code depends on which class.
 *
 * <p>HotSpot does so from its start on if something that may change classes was there then, and
 * otherwise from the first change of a class on, at which it throws all of its compiled code away.
 */
final class Account {
  private static final String AGENT = "-javaagent:";
  private static final List<String> CAPABILITIES =
      List.of("Can-Retransform-Classes", "Can-Redefine-Classes");

  private Account() {}

  static boolean isKept(Reach reach) {
    return reach.wasWoven() || isKept(ManagementFactory.getRuntimeMXBean().getInputArguments());
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
