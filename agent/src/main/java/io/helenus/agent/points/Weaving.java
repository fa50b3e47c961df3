package io.helenus.agent.points;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Which points are woven with which sites, and the transformer that makes it so.
 *
 * <p>Each change retransforms all classes that it concerns at once: it stops the server's threads
 * for some milliseconds. When the last site is taken away, so is the transformer, and every class
 * is as its file has it.
 */
public final class Weaving implements ClassFileTransformer {
  private static final String DROPS_CODE =
      "this JVM was started without an agent that may change classes, and throws all of its compiled"
          + " code away at the first change: a busy node is slow for a minute or more after it";
  private static final String IS_READY =
      "start it with -javaagent:helenus-agent.jar=ready (helenus agent writes the jar), and it takes"
          + " some seconds; or where it does no harm say --cold, as in helenus probes --cold --for 1s,"
          + " after which all others need not";

  private final Instrumentation instrumentation;
  private final Reach reach;
  private final Consumer<String> log;
  private final Map<Integer, Point> points = new LinkedHashMap<>();
  private boolean transforming;
  private boolean mayDropCode;

  /** By the internal name of the class, then the method's name and descriptor. */
  private volatile Map<String, Map<String, List<Weaver.Crossing>>> crossings = Map.of();

  public Weaving(Instrumentation instrumentation, Reach reach, Consumer<String> log) {
    this.instrumentation = instrumentation;
    this.reach = reach;
    this.log = log;
  }

  /** Whether the JVM may throw its compiled code away, where it has not kept account of it. */
  public synchronized void mayDropCode(boolean may) {
    mayDropCode = may;
  }

  /**
   * Weaves sites in and out.
   *
   * @param in the points by the number of their site
   * @throws Refusal when the JVM takes none of it, or would throw its compiled code away for it and
   *     may not, and then nothing has changed
   */
  public synchronized void change(Map<Integer, Point> in, Collection<Integer> out) {
    if (!mayDropCode && !Account.isKept(reach)) {
      throw new Refusal(DROPS_CODE, IS_READY);
    }
    Set<String> classes = new TreeSet<>();
    in.values().forEach(point -> classes.add(point.method.className));
    for (int number : out) {
      Point point = points.get(number);
      if (point != null) {
        classes.add(point.method.className);
      }
    }
    Map<Integer, Point> before = new LinkedHashMap<>(points);
    points.putAll(in);
    points.keySet().removeAll(out);
    crossings = sort(points);
    try {
      retransform(classes);
    } catch (Throwable e) {
      points.clear();
      points.putAll(before);
      crossings = sort(points);
      retransform(classes);
      throw new Refusal(
          "the JVM does not take the woven classes: " + e, "choose other points; nothing changed");
    }
  }

  /** Takes everything out. */
  public void removeAll() {
    change(Map.of(), List.copyOf(points()));
  }

  /** The numbers of the sites that are woven. */
  public synchronized Collection<Integer> points() {
    return List.copyOf(points.keySet());
  }

  private void retransform(Set<String> classNames) {
    if (!transforming && !points.isEmpty()) {
      if (!instrumentation.isRetransformClassesSupported()) {
        throw new UnsupportedOperationException("it can't retransform classes");
      }
      instrumentation.addTransformer(this, true);
      transforming = true;
    }
    List<Class<?>> loaded = new ArrayList<>();
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (classNames.contains(type.getName())
          && instrumentation.isModifiableClass(type)
          && reach.reaches(type.getClassLoader())) {
        loaded.add(type);
      }
    }
    try {
      if (!loaded.isEmpty()) {
        instrumentation.retransformClasses(loaded.toArray(new Class<?>[0]));
        reach.weaves();
      }
    } catch (java.lang.instrument.UnmodifiableClassException e) {
      throw new IllegalStateException(e);
    }
    if (transforming && points.isEmpty()) {
      instrumentation.removeTransformer(this);
      transforming = false;
    }
  }

  private static Map<String, Map<String, List<Weaver.Crossing>>> sort(Map<Integer, Point> points) {
    Map<String, Map<String, List<Weaver.Crossing>>> sorted = new HashMap<>();
    points.forEach(
        (number, point) ->
            sorted
                .computeIfAbsent(point.method.className.replace('.', '/'), name -> new HashMap<>())
                .computeIfAbsent(
                    point.method.name + point.method.descriptor, name -> new ArrayList<>())
                .add(new Weaver.Crossing(number, kind(point))));
    return sorted;
  }

  private static Weaver.Kind kind(Point point) {
    if (point.takes) {
      return Weaver.Kind.TAKE;
    }
    return point.guard == null ? Weaver.Kind.AROUND : Weaver.Kind.AROUND_SOME;
  }

  @Override
  public byte[] transform(
      ClassLoader loader,
      String className,
      Class<?> classBeingRedefined,
      ProtectionDomain protectionDomain,
      byte[] classFile) {
    Map<String, List<Weaver.Crossing>> wanted = className == null ? null : crossings.get(className);
    if (wanted == null || !reach.reaches(loader)) {
      return null;
    }
    try {
      return Weaver.weave(classFile, wanted);
    } catch (Throwable e) {
      log.accept(className + " can't be woven: " + e);
      return null;
    }
  }
}
