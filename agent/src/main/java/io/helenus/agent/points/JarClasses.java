package io.helenus.agent.points;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/**
 * The classes in the jars of a release. If several jars have the same class, the first wins, as on
 * a class path.
 */
final class JarClasses implements Classes {
  private static final String CLASS = ".class";

  /** The jar that each class is in. */
  private final Map<String, JarFile> jars = new LinkedHashMap<>();

  JarClasses(List<Path> paths) throws IOException {
    for (Path path : paths) {
      JarFile jar = new JarFile(path.toFile(), false);
      jar.stream()
          .map(entry -> entry.getName())
          .filter(name -> name.endsWith(CLASS) && !name.startsWith("META-INF/"))
          .map(name -> name.substring(0, name.length() - CLASS.length()).replace('/', '.'))
          .forEach(name -> jars.putIfAbsent(name, jar));
    }
  }

  @Override
  public Map<String, List<Method>> of(Pattern pattern) {
    Map<String, List<Method>> full = new TreeMap<>();
    Map<String, List<Method>> shortly = new TreeMap<>();
    for (Map.Entry<String, JarFile> entry : jars.entrySet()) {
      String name = entry.getKey();
      if (pattern.matchesClass(name)) {
        full.put(name, methods(entry.getValue(), name));
      } else if (full.isEmpty() && pattern.matchesShortly(name)) {
        shortly.put(name, methods(entry.getValue(), name));
      }
    }
    Map<String, List<Method>> found = full.isEmpty() ? shortly : full;
    if (found.isEmpty()) {
      throw new Refusal(
          "there is no class " + pattern.className,
          Nearest.hint(
              Pattern.ownName(pattern.className),
              jars.keySet().stream().map(Pattern::ownName).collect(Collectors.toSet()),
              "give its name in full, with the package"));
    }
    return found;
  }

  private static List<Method> methods(JarFile jar, String className) {
    String file = className.replace('.', '/') + CLASS;
    try (InputStream in = jar.getInputStream(jar.getEntry(file))) {
      return ClassFiles.methods(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
