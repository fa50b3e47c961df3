package io.helenus.agent.dispatch;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The groups of threads by name: a thread's name without its number. */
public final class ThreadGroups {
  /** Bounds the memory if a program gives each thread a unique name. */
  private static final int MOST = 512;

  private static final String JOINTS = "-:#_./@ ";

  /** A group, with its number, from 0 on. */
  public static final class Group {
    public final String name;
    public final int number;

    Group(String name, int number) {
      this.name = name;
      this.number = number;
    }
  }

  private final Map<String, Group> groups = new ConcurrentHashMap<>();
  private final Group others = new Group("(others)", MOST);

  Group of(String threadName) {
    String name = name(threadName);
    Group known = groups.get(name);
    return known != null ? known : add(name);
  }

  private synchronized Group add(String name) {
    if (groups.size() >= MOST && !groups.containsKey(name)) {
      return others;
    }
    return groups.computeIfAbsent(name, key -> new Group(key, groups.size()));
  }

  /**
   * The group of a thread: its name up to a parenthesis, without trailing numbers and their
   * separators. The recorder uses the same rule. A name of numbers only is kept whole.
   */
  static String name(String threadName) {
    int parenthesis = threadName.indexOf('(');
    int end = parenthesis < 0 ? threadName.length() : parenthesis;
    while (end > 0 && isNumber(threadName.charAt(end - 1))) {
      end--;
    }
    return end == 0 ? threadName : threadName.substring(0, end);
  }

  private static boolean isNumber(char c) {
    return (c >= '0' && c <= '9') || JOINTS.indexOf(c) >= 0;
  }
}
