package io.helenus.agent.points;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Which methods are meant: {@code package.Class.method(arguments)}.
 *
 * <p>A {@code *} stands for any part of a name, dots included in that of the class. The package may
 * be left out where the class's own name is the only such one. Without parentheses the arguments
 * are any; within them the types are named in full or by their own names, and {@code ..} stands for
 * any further ones. A class within another is {@code Outer$Inner}.
 */
public final class Pattern {
  private static final String ANY_ARGUMENTS = "..";

  public final String text;
  final String className;
  final String methodName;
  private final java.util.regex.Pattern methods;
  private final java.util.regex.Pattern classes;

  /** Null when any will do. */
  private final List<String> arguments;

  /**
   * @throws Refusal if it isn't such a pattern
   */
  public Pattern(String text) {
    this.text = text.strip();
    int open = this.text.indexOf('(');
    String name = open < 0 ? this.text : this.text.substring(0, open).strip();
    int dot = name.lastIndexOf('.');
    if (dot < 1 || dot == name.length() - 1 || (open >= 0 && !this.text.endsWith(")"))) {
      throw new Refusal(
          "\"" + text + "\" is no point",
          "write package.Class.method or package.Class.method(argument types)");
    }
    className = name.substring(0, dot);
    methodName = name.substring(dot + 1);
    classes = regex(className);
    methods = regex(methodName);
    arguments = open < 0 ? null : split(this.text.substring(open + 1, this.text.length() - 1));
  }

  /** Whether the class's name is without a {@code *}. */
  boolean namesOneClass() {
    return className.indexOf('*') < 0;
  }

  boolean matchesClass(String name) {
    return classes.matcher(name).matches();
  }

  /** Whether the pattern matches the class's simple name, without package. */
  boolean matchesShortly(String name) {
    return className.indexOf('.') < 0 && classes.matcher(ownName(name)).matches();
  }

  boolean matchesMethod(Method method) {
    return methods.matcher(method.name).matches() && matchesArguments(method.arguments);
  }

  private boolean matchesArguments(List<String> types) {
    if (arguments == null) {
      return true;
    }
    int open = arguments.indexOf(ANY_ARGUMENTS);
    if (open < 0 ? types.size() != arguments.size() : types.size() < open) {
      return false;
    }
    for (int i = 0; i < (open < 0 ? types.size() : open); i++) {
      String wanted = arguments.get(i);
      if (!wanted.equals(types.get(i)) && !wanted.equals(ownName(types.get(i)))) {
        return false;
      }
    }
    return true;
  }

  static String ownName(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  private static java.util.regex.Pattern regex(String glob) {
    return java.util.regex.Pattern.compile(
        Arrays.stream(glob.split("\\*", -1))
            .map(java.util.regex.Pattern::quote)
            .collect(Collectors.joining(".*")));
  }

  private static List<String> split(String arguments) {
    List<String> types = new ArrayList<>();
    for (String type : arguments.split(",")) {
      if (!type.isBlank()) {
        types.add(type.strip());
      }
    }
    return types;
  }

  @Override
  public String toString() {
    return text;
  }
}
