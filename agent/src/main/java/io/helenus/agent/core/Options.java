package io.helenus.agent.core;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The agent's options: {@code key=value} separated by commas.
 *
 * <ul>
 *   <li>{@code connect=HOST:PORT} where the recorder listens; needed unless there are valves.
 *   <li>{@code token=HEX} the token by which the recorder recognizes its agents; the agent connects
 *       once, without retries.
 *   <li>{@code token-file=PATH} a file that holds the token. The agent retries with backoff and
 *       reads the file again each time, so the server may start before the recorder.
 *   <li>{@code pauses=mxbean} uses GC notifications even if the JVM's log is available.
 *   <li>{@code valves=PATH} a file of valves to add at the start; with this option alone the agent
 *       connects to no recorder. A path that ends in {@code .toml} needs no {@code valves=}.
 *   <li>{@code jar=PATH} the jar to take the agent from; read by {@link io.helenus.agent.Entry}.
 * </ul>
 */
final class Options {
  private static final Set<String> KEYS =
      Set.of("connect", "token", "token-file", "pauses", "valves", "jar");

  private final Map<String, String> values = new HashMap<>();

  /**
   * @throws IllegalArgumentException naming the option that is wrong and how it should be
   */
  Options(String text) {
    for (String option : (text == null ? "" : text).split(",")) {
      int equals = option.indexOf('=');
      if (equals < 0 && option.endsWith(".toml")) {
        values.put("valves", option);
        continue;
      }
      if (equals < 1 || !KEYS.contains(option.substring(0, equals))) {
        throw new IllegalArgumentException(
            "unknown option \""
                + option
                + "\"; there are connect=HOST:PORT, token=HEX, "
                + "token-file=PATH, pauses=mxbean, valves=PATH, jar=PATH");
      }
      values.put(option.substring(0, equals), option.substring(equals + 1));
    }
    if (wantsRecorder()) {
      checkRecorder();
    }
  }

  private void checkRecorder() {
    recorder();
    if (values.containsKey("token") == values.containsKey("token-file")) {
      throw new IllegalArgumentException("give one of token=HEX and token-file=PATH");
    }
    if (!values.getOrDefault("pauses", "mxbean").equals("mxbean")) {
      throw new IllegalArgumentException("pauses= takes mxbean only; leave it out for the best");
    }
  }

  /** Where the recorder listens; the host may be an IPv6 address in brackets. */
  InetSocketAddress recorder() {
    String connect = values.getOrDefault("connect", "");
    int colon = connect.lastIndexOf(':');
    try {
      String host = connect.substring(0, colon).replaceAll("^\\[(.*)]$", "$1");
      return new InetSocketAddress(host, Integer.parseInt(connect.substring(colon + 1)));
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("connect=HOST:PORT is needed, not \"" + connect + "\"", e);
    }
  }

  /** A file of valves; null for none. */
  Path valves() {
    return values.containsKey("valves") ? Path.of(values.get("valves")) : null;
  }

  boolean wantsRecorder() {
    return values.containsKey("connect") || !values.containsKey("valves");
  }

  String token() throws IOException {
    String file = values.get("token-file");
    return file == null ? values.get("token") : Files.readString(Path.of(file)).strip();
  }

  /** Whether to retry until a recorder accepts the agent. */
  boolean patient() {
    return values.containsKey("token-file");
  }

  boolean withoutLog() {
    return values.containsKey("pauses");
  }
}
