package io.helenus.agent.requests;

import java.util.function.Function;

/** The taps on the client connections of this server. */
public interface Taps {
  /**
   * Adds a tap to each open connection, and an acceptor to each server socket for connections to
   * come. Channels that have one already are left unchanged.
   *
   * @param server the server's class loader
   * @param packets gives the buffer of an event loop
   * @throws ReflectiveOperationException if this Cassandra has its connections elsewhere
   */
  void tap(ClassLoader server, Function<Object, Packets> packets)
      throws ReflectiveOperationException;

  /** Removes all taps, and waits until none is left or the time is up. */
  boolean remove(long withinMs) throws InterruptedException;
}
