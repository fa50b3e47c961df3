package io.helenus.agent.points;

/** Which of the server's class loaders lead to the hook that woven code calls. */
public final class Reach {
  private static final String HOOK = "io.helenus.agent.Hook";
  private static final String ENTRY = "io.helenus.agent.Entry";

  private final Class<?> hook;

  public Reach(Class<?> hook) {
    this.hook = hook;
  }

  /** The hook as the server's class path has it; null when an older agent's jar hides it. */
  public static Class<?> hook() {
    try {
      return Class.forName(HOOK, true, ClassLoader.getSystemClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  boolean isOurs(String className) {
    return className.equals(HOOK) || className.equals(ENTRY);
  }

  boolean reaches(ClassLoader loader) {
    if (loader == null) {
      return false;
    }
    try {
      return Class.forName(HOOK, false, loader) == hook;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
