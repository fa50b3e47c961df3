package io.helenus.agent.control;

import io.helenus.agent.core.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/**
 * A TOML file of valves that are added when the server starts: an array of tables {@code [[valve]]}
 * with the keys of the command {@code valve.add}.
 */
public final class ValvesFile {
  private static final long RETRY_MS = 1_000;
  private static final int RETRIES = 600;

  private final Path path;
  private final ControlClient control;
  private final Consumer<String> log;

  public ValvesFile(Path path, ControlClient control, Consumer<String> log) {
    this.path = path;
    this.control = control;
    this.log = log;
  }

  /** Adds the valves. A valve that can't be added is logged, and the others are added. */
  public void add() throws InterruptedException {
    List<Map<String, Object>> waiting = new ArrayList<>();
    try {
      for (Map<String, Object> valve : read(path)) {
        // A stage exists only after the server has started it.
        if (valve.containsKey("stage")) {
          waiting.add(valve);
        } else {
          logFailure(valve, control.execute(command(valve)));
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      log.accept("no valves from " + path + ": " + e.getMessage());
    }
    for (int i = 0; i < RETRIES && !waiting.isEmpty(); i++) {
      boolean last = i == RETRIES - 1;
      waiting.removeIf(
          valve -> {
            String reply = control.execute(command(valve));
            boolean done = reply.startsWith("{\"ok\"") || last;
            if (done) {
              logFailure(valve, reply);
            }
            return done;
          });
      if (!waiting.isEmpty()) {
        Thread.sleep(RETRY_MS);
      }
    }
  }

  private void logFailure(Map<String, Object> valve, String reply) {
    Object parsed = Json.parse(reply);
    Object error = ((Map<?, ?>) parsed).get("error");
    if (error != null) {
      Object hint = ((Map<?, ?>) parsed).get("hint");
      log.accept(
          "the valve "
              + valve.get("name")
              + " of "
              + path
              + " was not added: "
              + error
              + "; "
              + hint);
    }
  }

  private static String command(Map<String, Object> valve) {
    Map<String, Object> command = new LinkedHashMap<>();
    command.put("do", "valve.add");
    command.putAll(valve);
    return Json.write(command);
  }

  /**
   * @throws IllegalArgumentException naming the error in the file, and its line
   */
  static List<Map<String, Object>> read(Path path) throws IOException {
    TomlParseResult file = Toml.parse(path);
    if (file.hasErrors()) {
      TomlParseError first = file.errors().get(0);
      throw new IllegalArgumentException(first.position() + ": " + first.getMessage());
    }
    for (String key : file.keySet()) {
      if (!key.equals("valve")) {
        throw new IllegalArgumentException("there is no \"" + key + "\"; write [[valve]]");
      }
    }
    if (!file.isArray("valve")) {
      throw new IllegalArgumentException("it has no [[valve]]");
    }
    List<Map<String, Object>> valves = new ArrayList<>();
    for (Object valve : file.getArray("valve").toList()) {
      if (!(valve instanceof TomlTable)) {
        throw new IllegalArgumentException("a valve is a table; write [[valve]]");
      }
      valves.add(plain((TomlTable) valve));
    }
    return valves;
  }

  private static Map<String, Object> plain(TomlTable table) {
    Map<String, Object> plain = new LinkedHashMap<>();
    table.toMap().forEach((key, value) -> plain.put(key, plainValue(value)));
    return plain;
  }

  private static Object plainValue(Object value) {
    if (value instanceof TomlTable) {
      return plain((TomlTable) value);
    }
    if (value instanceof TomlArray) {
      return ((TomlArray) value)
          .toList().stream().map(ValvesFile::plainValue).collect(Collectors.toList());
    }
    return value;
  }
}
