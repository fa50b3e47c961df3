package io.helenus.agent.points;

/** Access to the {@code Hook} that woven code calls, and which class loaders can see it. */
public final class HookAccess {
  private static final String HOOK = "io.helenus.agent.Hook";
  private static final String WOVEN = "woven";
  private static final String ENTRY = "io.helenus.agent.Entry";

  private final Class<?> hook;

  public HookAccess(Class<?> hook) {
    this.hook = hook;
  }

  /** The hook's class on the server's class path; null if an older agent's jar hides it. */
  public static Class<?> hook() {
    try {
      return Class.forName(HOOK, true, ClassLoader.getSystemClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  /** Whether a class of this JVM has ever been woven, by us or an agent before us. */
  boolean wasWoven() {
    try {
      return hook.getField(WOVEN).getBoolean(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  void markWoven() {
    try {
      hook.getField(WOVEN).setBoolean(null, true);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  boolean isOurs(String className) {
    return className.equals(HOOK) || className.equals(ENTRY);
  }

  boolean isVisibleTo(ClassLoader loader) {
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
