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
 * The class transformer: keeps which sites are woven into which points, and retransforms classes
 * when that changes.
 *
 * <p>Each change retransforms all affected classes at once, which stops the server's threads for
 * some milliseconds. With the last site the transformer is removed, and every class has its
 * original bytecode again.
 */
public final class Weaving implements ClassFileTransformer {
  private static final String DEOPTIMIZES =
      "this JVM was started without an agent that may change classes, so the first change deoptimizes"
          + " all of its compiled code: a busy node is slow for a minute or more after it";
  private static final String HOW_TO_AVOID =
      "start it with -javaagent:helenus-agent.jar=ready (helenus agent writes the jar), and it takes"
          + " some seconds; or where it does no harm say --cold, as in helenus probes --cold --for 1s,"
          + " after which all others need not";

  private final Instrumentation instrumentation;
  private final HookAccess hookAccess;
  private final Consumer<String> log;
  private final Map<Integer, Point> points = new LinkedHashMap<>();
  private boolean transforming;
  private boolean mayDeoptimize;

  /** By the internal name of the class, then the method's name and descriptor. */
  private volatile Map<String, Map<String, List<Weaver.HookCall>>> calls = Map.of();

  public Weaving(Instrumentation instrumentation, HookAccess hookAccess, Consumer<String> log) {
    this.instrumentation = instrumentation;
    this.hookAccess = hookAccess;
    this.log = log;
  }

  /** Whether a change may deoptimize the whole JVM; see {@link DependencyTracking}. */
  public synchronized void mayDeoptimize(boolean may) {
    mayDeoptimize = may;
  }

  /**
   * Weaves sites in and out.
   *
   * @param in the points by the number of their site
   * @throws Refusal if the JVM rejects the woven classes, or would be deoptimized and may not be;
   *     nothing has changed then
   */
  public synchronized void change(Map<Integer, Point> in, Collection<Integer> out) {
    if (!mayDeoptimize && !DependencyTracking.isOn(hookAccess)) {
      throw new Refusal(DEOPTIMIZES, HOW_TO_AVOID);
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
    calls = sort(points);
    try {
      retransform(classes);
    } catch (Throwable e) {
      points.clear();
      points.putAll(before);
      calls = sort(points);
      retransform(classes);
      throw new Refusal(
          "the JVM does not take the woven classes: " + e, "choose other points; nothing changed");
    }
  }

  /** Removes all sites. */
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
          && hookAccess.isVisibleTo(type.getClassLoader())) {
        loaded.add(type);
      }
    }
    try {
      if (!loaded.isEmpty()) {
        instrumentation.retransformClasses(loaded.toArray(new Class<?>[0]));
        hookAccess.markWoven();
      }
    } catch (java.lang.instrument.UnmodifiableClassException e) {
      throw new IllegalStateException(e);
    }
    if (transforming && points.isEmpty()) {
      instrumentation.removeTransformer(this);
      transforming = false;
    }
  }

  private static Map<String, Map<String, List<Weaver.HookCall>>> sort(Map<Integer, Point> points) {
    Map<String, Map<String, List<Weaver.HookCall>>> sorted = new HashMap<>();
    points.forEach(
        (number, point) ->
            sorted
                .computeIfAbsent(point.method.className.replace('.', '/'), name -> new HashMap<>())
                .computeIfAbsent(
                    point.method.name + point.method.descriptor, name -> new ArrayList<>())
                .add(new Weaver.HookCall(number, kind(point))));
    return sorted;
  }

  private static Weaver.Kind kind(Point point) {
    if (point.diverts) {
      return Weaver.Kind.DIVERT;
    }
    return point.guard == null ? Weaver.Kind.AROUND : Weaver.Kind.AROUND_GUARDED;
  }

  @Override
  public byte[] transform(
      ClassLoader loader,
      String className,
      Class<?> classBeingRedefined,
      ProtectionDomain protectionDomain,
      byte[] classFile) {
    Map<String, List<Weaver.HookCall>> wanted = className == null ? null : calls.get(className);
    if (wanted == null || !hookAccess.isVisibleTo(loader)) {
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
