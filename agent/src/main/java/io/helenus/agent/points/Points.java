package io.helenus.agent.points;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Finds points by name or by pattern. */
public final class Points {
  /** The most methods that a pattern may match by default. */
  public static final int BOUND = 50;

  private final Classes classes;
  private final Preset preset;

  public Points(Instrumentation instrumentation, HookAccess hookAccess, Preset preset) {
    this(new LoadedClasses(instrumentation, hookAccess), preset);
  }

  Points(Classes classes, Preset preset) {
    this.classes = classes;
    this.preset = preset;
  }

  /** All named points of the preset that exist in this server. */
  public List<Point> named() {
    List<Point> points = new ArrayList<>();
    for (Preset.Entry entry : preset.entries().values()) {
      try {
        points.addAll(find(entry.name, BOUND));
      } catch (Refusal e) {
        // This release has no such method; a command that names the point gets the error.
        continue;
      }
    }
    return points;
  }

  /**
   * Finds the points of a name of the preset, or of a {@link Pattern} that may be followed by
   * {@code when} and conditions.
   *
   * @throws Refusal when there is no such point, with the nearest names; when the pattern matches
   *     more methods than the bound
   */
  public List<Point> find(String text, int bound) {
    Preset.Entry entry = preset.entry(text.strip());
    String[] parts = text.split("\\s+when\\s+", 2);
    Pattern pattern;
    if (entry != null) {
      pattern = entry.pattern;
    } else if (parts[0].indexOf('.') < 0 && !preset.entries().isEmpty()) {
      throw new Refusal(
          "there is no point " + text + " in " + preset.name,
          Nearest.hint(
              text,
              preset.entries().keySet(),
              "there are " + String.join(", ", preset.entries().keySet())));
    } else {
      pattern = new Pattern(parts[0]);
    }
    Guard guard = entry != null ? entry.guard : parts.length > 1 ? new Guard(parts[1]) : null;
    List<Point> points = new ArrayList<>();
    for (Method method : methods(pattern)) {
      if (guard != null && method.isStatic()) {
        throw new Refusal(
            method + " is static: there is no object to ask", "leave out what follows \"when\"");
      }
      String whyNoGate = ForbiddenGates.reason(method);
      if (entry != null && !entry.mayGate && whyNoGate == null) {
        whyNoGate = "the preset gives it as a place to measure only";
      }
      if (entry != null && entry.mayGate) {
        whyNoGate = null;
      }
      String name = entry != null ? entry.name : method + (guard == null ? "" : " when " + guard);
      points.add(new Point(name, method, guard, entry != null && entry.mayRefuse, whyNoGate));
    }
    if (points.size() > bound) {
      throw new Refusal(
          "\"" + text + "\" matches " + points.size() + " methods, and " + bound + " are allowed",
          "narrow the pattern, or give a larger bound (at_most)");
    }
    return points;
  }

  private List<Method> methods(Pattern pattern) {
    Map<String, List<Method>> classes = this.classes.of(pattern);
    List<Method> found = new ArrayList<>();
    for (List<Method> methods : classes.values()) {
      methods.stream().filter(pattern::matchesMethod).forEach(found::add);
    }
    if (found.isEmpty()) {
      List<Method> all =
          classes.values().stream().flatMap(Collection::stream).collect(Collectors.toList());
      List<String> sameName =
          all.stream()
              .filter(method -> method.name.equals(pattern.methodName))
              .map(Method::toString)
              .collect(Collectors.toList());
      List<String> names = all.stream().map(method -> method.name).collect(Collectors.toList());
      throw new Refusal(
          "no method that can be woven matches \"" + pattern + "\"",
          sameName.isEmpty()
              ? Nearest.hint(
                  pattern.methodName,
                  names,
                  "abstract and native methods, constructors and inherited ones can't be woven")
              : "there is " + String.join(", ", sameName));
    }
    return found;
  }
}
