package io.helenus.agent.points;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A pattern of methods: {@code package.Class.method(arguments)}.
 *
 * <p>A {@code *} matches any part of a name; in a class name also dots. The package may be left out
 * if only one class has that simple name. Without parentheses the pattern matches any arguments;
 * within them types have their full or their simple names, and {@code ..} matches any further
 * arguments. A nested class is {@code Outer$Inner}.
 */
public final class Pattern {
  private static final String ANY_ARGUMENTS = "..";

  public final String text;
  final String className;
  final String methodName;
  private final java.util.regex.Pattern methods;
  private final java.util.regex.Pattern classes;

  /** Types of the arguments; null for any. */
  private final List<String> arguments;

  /**
   * @throws Refusal if the text is no such pattern
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

  /** Whether the pattern names its class without a {@code *}. */
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
