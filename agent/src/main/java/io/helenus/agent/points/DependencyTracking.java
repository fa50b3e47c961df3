package io.helenus.agent.points;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Whether a JVM tracks which compiled code depends on which class.
 *
 * <p>HotSpot does so from its start if an agent that may redefine or retransform classes was loaded
 * then. Otherwise it begins with the first change of a class, which deoptimizes all compiled code.
 */
final class DependencyTracking {
  private static final String AGENT = "-javaagent:";
  private static final List<String> CAPABILITIES =
      List.of("Can-Retransform-Classes", "Can-Redefine-Classes");

  private DependencyTracking() {}

  static boolean isOn(HookAccess hookAccess) {
    return hookAccess.wasWoven() || isOn(ManagementFactory.getRuntimeMXBean().getInputArguments());
  }

  static boolean isOn(List<String> arguments) {
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
      // The jar was deleted. Assume the worse case, so that the user is warned.
      return false;
    }
  }
}
