package io.helenus.agent.requests;

import java.util.function.Function;

/** The taps on the client connections of this server. */
public interface Taps {
  /**
   * Begins to tap what is not tapped yet: connections that are open, and servers' sockets, for
   * those that will be. Does nothing more of what is.
   *
   * @param server the server's class loader
   * @param packets gives the buffer of an event loop
   * @throws ReflectiveOperationException if this Cassandra has its connections elsewhere
   */
  void tap(ClassLoader server, Function<Object, Packets> packets)
      throws ReflectiveOperationException;

  /** Ends all taps and waits until none is left, or the time is up. */
  boolean remove(long withinMs) throws InterruptedException;
}
