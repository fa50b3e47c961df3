package io.helenus.agent.points;

import java.lang.instrument.Instrumentation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The loaded classes of this JVM, and classes that are named in full and not loaded yet. */
final class LoadedClasses implements Classes {
  private final Instrumentation instrumentation;
  private final HookAccess hookAccess;

  LoadedClasses(Instrumentation instrumentation, HookAccess hookAccess) {
    this.instrumentation = instrumentation;
    this.hookAccess = hookAccess;
  }

  @Override
  public Map<String, List<Method>> of(Pattern pattern) {
    Map<String, List<Method>> found = new TreeMap<>();
    Map<String, List<Method>> shortly = new TreeMap<>();
    Map<String, String> unreachable = new LinkedHashMap<>();
    TreeSet<String> names = new TreeSet<>();
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      String name = type.getName();
      boolean full = pattern.matchesClass(name);
      // Skip arrays, and hidden classes such as those of lambdas.
      if (name.startsWith("[") || name.indexOf('/') >= 0 || hookAccess.isOurs(name)) {
        continue;
      }
      names.add(Pattern.ownName(name));
      if (!full && !pattern.matchesShortly(name)) {
        continue;
      }
      if (!hookAccess.isVisibleTo(type.getClassLoader())
          || !instrumentation.isModifiableClass(type)) {
        unreachable.put(name, String.valueOf(type.getClassLoader()));
        continue;
      }
      List<Method> methods = ClassFiles.methods(type.getClassLoader(), name);
      if (methods != null) {
        (full ? found : shortly).put(name, methods);
      }
    }
    if (found.isEmpty() && pattern.namesOneClass()) {
      // The class is not loaded yet: search the server's own class path.
      List<Method> methods =
          ClassFiles.methods(ClassLoader.getSystemClassLoader(), pattern.className);
      if (methods != null && unreachable.isEmpty()) {
        found.put(pattern.className, methods);
      }
    }
    if (!found.isEmpty()) {
      return found;
    }
    if (shortly.size() > 1 && pattern.namesOneClass()) {
      throw new Refusal(
          "several classes are named " + pattern.className,
          "give one in full: " + String.join(", ", shortly.keySet()));
    }
    if (!shortly.isEmpty()) {
      return shortly;
    }
    if (!unreachable.isEmpty()) {
      throw new Refusal(
          "code of " + unreachable.keySet().iterator().next() + " can't reach the agent",
          "only classes that the application's class loader or one below it loads can be woven");
    }
    throw new Refusal(
        "there is no class " + pattern.className,
        Nearest.hint(
            Pattern.ownName(pattern.className), names, "give its name in full, with the package"));
  }
}
