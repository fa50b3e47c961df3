package io.helenus.agent.tuning;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.util.Map;
import java.util.TreeMap;
import javax.management.ObjectName;

/**
 * The limit of requests per second that the node accepts from its clients ({@code
 * native_transport_max_requests_per_second}), since 4.1. Requests beyond the limit wait in the
 * clients' connections, which the node does not read meanwhile; a client that set THROW_ON_OVERLOAD
 * gets an Overloaded error instead.
 *
 * <p>The limit consists of two settings of Cassandra, {@value #ENABLED} and {@value #PER_SECOND}; a
 * rate that is not enabled is restored, too.
 */
final class RequestRate implements Setting {
  static final String NAME = "requests-per-second";
  private static final String ENABLED = "enabled";
  private static final String PER_SECOND = "per_second";
  private static final String ENABLED_ATTRIBUTE = "NativeTransportRateLimitingEnabled";
  private static final String RATE_ATTRIBUTE = "NativeTransportMaxRequestsPerSecond";

  private final ObjectName storage = Beans.name(Beans.STORAGE);

  @Override
  public String setting() {
    return NAME;
  }

  @Override
  public String table() {
    return null;
  }

  @Override
  public Object read() {
    Object enabled = Beans.getOrNull(storage, ENABLED_ATTRIBUTE);
    if (enabled == null && Beans.SERVER.isRegistered(storage)) {
      throw new Refusal(
          "this Cassandra has no limit of requests per second",
          "4.1 and later have one; elsewhere a valve holds back requests (helenus valve)");
    }
    Map<String, String> read = new TreeMap<>();
    read.put(ENABLED, String.valueOf(Beans.get(storage, ENABLED_ATTRIBUTE)));
    read.put(PER_SECOND, String.valueOf(Beans.get(storage, RATE_ATTRIBUTE)));
    return read;
  }

  /** A part that the command does not give keeps its value. */
  @Override
  public void write(Object value) {
    Map<String, String> given = value instanceof Map ? Setting.named((Map<?, ?>) value) : Map.of();
    String enabled = given.getOrDefault(ENABLED, "true");
    String rate = given.get(PER_SECOND);
    boolean isRate = rate == null || (rate.matches("\\d{1,9}") && Integer.parseInt(rate) > 0);
    if (given.isEmpty() || !enabled.matches("true|false") || !isRate) {
      throw new Refusal(
          NAME + " is " + Json.write(value),
          "give enabled, true or false, and per_second, a whole number from 1 on");
    }
    if (rate != null) {
      Beans.set(storage, RATE_ATTRIBUTE, Integer.valueOf(rate));
    }
    Beans.set(storage, ENABLED_ATTRIBUTE, Boolean.valueOf(enabled));
  }
}
