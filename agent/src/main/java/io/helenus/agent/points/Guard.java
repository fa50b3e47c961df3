package io.helenus.agent.points;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Selects calls of a method by the object that it is called on: conditions joined by {@code and},
 * each optionally negated by {@code not}. A condition is a path of fields and of methods without
 * arguments that ends in a boolean, {@code restrictions.isKeyRange()}, or such a path, {@code is}
 * and a class's simple name, {@code command is PartitionRangeReadCommand}.
 */
final class Guard implements Predicate<Object> {
  private static final MethodType GETTER = MethodType.methodType(Object.class, Object.class);

  private final String text;
  private final List<Condition> conditions = new ArrayList<>();

  Guard(String text) {
    this.text = text;
    for (String condition : text.split("\\s+and\\s+")) {
      conditions.add(new Condition(condition.strip()));
    }
  }

  @Override
  public boolean test(Object about) {
    for (Condition condition : conditions) {
      if (!condition.test(about)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    return text;
  }

  private static final class Condition {
    private final boolean expected;
    private final List<Step> path = new ArrayList<>();

    /** The class of the value at the end of the path; null if the value is a boolean. */
    private final String type;

    Condition(String text) {
      expected = !text.startsWith("not ");
      String[] parts = text.substring(expected ? 0 : "not ".length()).split("\\s+is\\s+", 2);
      type = parts.length > 1 ? parts[1] : null;
      for (String step : parts[0].split("\\.")) {
        path.add(new Step(step));
      }
    }

    boolean test(Object about) {
      Object value = about;
      for (Step step : path) {
        value = step.take(value);
      }
      boolean is = type == null ? (Boolean) value : isType(value);
      return is == expected;
    }

    private boolean isType(Object value) {
      for (Class<?> c = value.getClass(); c != null; c = c.getSuperclass()) {
        if (Pattern.ownName(c.getName()).equals(type)) {
          return true;
        }
      }
      return false;
    }
  }

  /** A step of a path: a field, or a method without arguments. */
  private static final class Step {
    private final String name;
    private final boolean method;
    private volatile Access last;

    /** The getter for objects of one class. */
    private static final class Access {
      final Class<?> of;
      final MethodHandle getter;

      Access(Class<?> of, MethodHandle getter) {
        this.of = of;
        this.getter = getter;
      }
    }

    Step(String text) {
      method = text.endsWith("()");
      name = method ? text.substring(0, text.length() - 2) : text;
    }

    Object take(Object from) {
      Access access = last;
      if (access == null || access.of != from.getClass()) {
        access = find(from.getClass());
        last = access;
      }
      try {
        return (Object) access.getter.invokeExact(from);
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }

    private Access find(Class<?> of) {
      for (Class<?> c = of; c != null; c = c.getSuperclass()) {
        try {
          MethodHandles.Lookup lookup = MethodHandles.lookup();
          AccessibleObject member = method ? c.getDeclaredMethod(name) : c.getDeclaredField(name);
          member.setAccessible(true);
          MethodHandle getter =
              method
                  ? lookup.unreflect((java.lang.reflect.Method) member)
                  : lookup.unreflectGetter((Field) member);
          return new Access(of, getter.asType(GETTER));
        } catch (NoSuchMethodException | NoSuchFieldException e) {
          // The field or method may be declared in a superclass.
          continue;
        } catch (IllegalAccessException e) {
          throw new IllegalStateException(e);
        }
      }
      throw new IllegalStateException(of.getName() + " has no " + name);
    }
  }
}
