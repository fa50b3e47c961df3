package io.helenus.agent.points;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** A method of a class file. */
public final class Method {
  public final String className;
  public final String name;
  public final String descriptor;

  /** Types of its arguments, such as {@code int} and {@code java.util.Map$Entry}. */
  public final List<String> arguments;

  private final int access;

  Method(String className, String name, String descriptor, int access) {
    this.className = className;
    this.name = name;
    this.descriptor = descriptor;
    this.access = access;
    this.arguments =
        Arrays.stream(Type.getArgumentTypes(descriptor))
            .map(Type::getClassName)
            .collect(Collectors.toList());
  }

  /** Whether code can be woven around it: it has code and is no constructor. */
  boolean isWeavable() {
    int without = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;
    // A bridge method only calls the real one.
    return (access & (without | Opcodes.ACC_BRIDGE)) == 0 && !name.startsWith("<");
  }

  /** Whether the method is synchronized. */
  public boolean isSynchronized() {
    return (access & Opcodes.ACC_SYNCHRONIZED) != 0;
  }

  public boolean isStatic() {
    return (access & Opcodes.ACC_STATIC) != 0;
  }

  /** The pattern that matches this method alone. */
  @Override
  public String toString() {
    return className + "." + name + "(" + String.join(", ", arguments) + ")";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Method
        && ((Method) other).className.equals(className)
        && ((Method) other).name.equals(name)
        && ((Method) other).descriptor.equals(descriptor);
  }

  @Override
  public int hashCode() {
    return className.hashCode() ^ name.hashCode() ^ descriptor.hashCode();
  }
}
