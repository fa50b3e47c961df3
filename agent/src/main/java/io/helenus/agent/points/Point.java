package io.helenus.agent.points;

import java.util.function.Predicate;

/** A method of the server, or those of its calls that a guard means. */
public final class Point {
  /** The name in the preset if the point was requested by that name, else the full method. */
  public final String name;

  public final Method method;

  /** Which of the calls are meant, by the object they are made on; null for all. */
  public final Predicate<Object> guard;

  /** Whether a request that gets there may be refused with the protocol's Overloaded. */
  public final boolean mayRefuse;

  /** Why no gate is allowed there; null if one is. */
  public final String whyNoGate;

  /** Whether the method is left at once where the hook takes what is handed over to it. */
  final boolean takes;

  Point(String name, Method method, Guard guard, boolean mayRefuse, String whyNoGate) {
    this(name, method, guard, mayRefuse, whyNoGate, false);
  }

  private Point(
      String name,
      Method method,
      Predicate<Object> guard,
      boolean mayRefuse,
      String whyNoGate,
      boolean takes) {
    this.name = name;
    this.method = method;
    this.guard = guard;
    this.mayRefuse = mayRefuse;
    this.whyNoGate = whyNoGate;
    this.takes = takes;
  }

  /**
   * The same method, an object's, to ask the hook before anything else whether it takes the one
   * argument over. A method that returns something returns its argument then.
   */
  public Point taking() {
    return new Point(name, method, null, false, whyNoGate, true);
  }

  @Override
  public String toString() {
    return method + (guard == null ? "" : " when " + guard);
  }
}
