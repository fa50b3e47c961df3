package io.helenus.agent.valves;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The server's own exception for a request that it has no room for. */
final class Overloaded {
  private static final String CASSANDRAS = "org.apache.cassandra.exceptions.OverloadedException";

  private final MethodHandle constructor;

  /**
   * @throws ReflectiveOperationException where the server has no such exception
   */
  Overloaded() throws ReflectiveOperationException {
    Class<?> type = Class.forName(CASSANDRAS, true, ClassLoader.getSystemClassLoader());
    MethodType takesText = MethodType.methodType(void.class, String.class);
    constructor =
        MethodHandles.publicLookup()
            .findConstructor(type, takesText)
            .asType(MethodType.methodType(RuntimeException.class, String.class));
  }

  RuntimeException make(String why) {
    try {
      return (RuntimeException) constructor.invokeExact(why);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
