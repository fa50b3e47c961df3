package io.helenus.agent.points;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks points against the jars of a release, without a node. Which of several matching classes
 * are loaded, and so how many methods a {@code *} matches, is checked later by the running node.
 */
public final class ReleaseCheck {
  private final Points points;

  ReleaseCheck(List<Path> jars, Preset preset) throws IOException {
    points = new Points(new JarClasses(jars), preset);
  }

  /**
   * Arguments: a folder of jars, a release line such as 5.0, then for each point three words: the
   * name or pattern, its use (probe, gate or refusal), and how many methods it may match. Prints a
   * line for each point: empty if the point may exist, else the reason why not.
   */
  public static void main(String[] arguments) throws IOException {
    List<Path> jars;
    try (Stream<Path> files = Files.list(Path.of(arguments[0]))) {
      jars = files.filter(f -> f.toString().endsWith(".jar")).sorted().collect(Collectors.toList());
    }
    ReleaseCheck check = new ReleaseCheck(jars, Preset.read(arguments[1]));
    for (int i = 2; i + 2 < arguments.length; i += 3) {
      int atMost = Integer.parseInt(arguments[i + 2]);
      String refusal = check.refusal(arguments[i], arguments[i + 1], atMost);
      System.out.println(refusal == null ? "" : refusal.replaceAll("\\s+", " "));
    }
  }

  /** Why a point can't be used; null if it may exist. */
  String refusal(String at, String use, int atMost) {
    List<Point> found;
    try {
      found = points.find(at, Integer.MAX_VALUE);
    } catch (Refusal e) {
      return e.getMessage() + "; " + e.hint;
    }
    boolean isOneClass =
        found.stream().map(point -> point.method.className).distinct().count() == 1;
    if (isOneClass && found.size() > atMost) {
      return "it matches " + found.size() + " methods, and " + atMost + " are allowed";
    }
    List<Point> unfit =
        found.stream().filter(point -> !fits(point, use)).collect(Collectors.toList());
    if (unfit.isEmpty() || (!isOneClass && unfit.size() < found.size())) {
      return null;
    }
    Point first = unfit.get(0);
    return first.whyNoGate != null
        ? "no gate may stand at " + first.method + ": " + first.whyNoGate
        : "a request can't be refused at " + first.method;
  }

  private static boolean fits(Point point, String use) {
    return use.equals("probe")
        || (point.whyNoGate == null && (use.equals("gate") || point.mayRefuse));
  }
}
