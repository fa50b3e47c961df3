package io.helenus.agent.points;

import java.util.function.Predicate;

/** A method of the server, or those of its calls that a guard selects. */
public final class Point {
  /** The name in the preset if the point was requested by that name, else the full method. */
  public final String name;

  public final Method method;

  /** Selects calls by the object that the method is called on; null for all. */
  public final Predicate<Object> guard;

  /** Whether a request may be refused here with the protocol's Overloaded error. */
  public final boolean mayRefuse;

  /** Why no gate is allowed there; null if one is. */
  public final String whyNoGate;

  /** Whether the hook may divert the method's argument; the method then returns at once. */
  final boolean diverts;

  Point(String name, Method method, Guard guard, boolean mayRefuse, String whyNoGate) {
    this(name, method, guard, mayRefuse, whyNoGate, false);
  }

  private Point(
      String name,
      Method method,
      Predicate<Object> guard,
      boolean mayRefuse,
      String whyNoGate,
      boolean diverts) {
    this.name = name;
    this.method = method;
    this.guard = guard;
    this.mayRefuse = mayRefuse;
    this.whyNoGate = whyNoGate;
    this.diverts = diverts;
  }

  /**
   * This instance method of one argument as a point where the hook may divert the argument before
   * any code of the method runs. A method with a result then returns its argument.
   */
  public Point diverted() {
    return new Point(name, method, null, false, whyNoGate, true);
  }

  @Override
  public String toString() {
    return method + (guard == null ? "" : " when " + guard);
  }
}
