package io.helenus.agent.valves;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Makes Cassandra's own OverloadedException, with which a gate refuses a request. */
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
