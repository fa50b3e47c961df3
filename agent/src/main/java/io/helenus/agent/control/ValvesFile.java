package io.helenus.agent.control;

import com.electronwill.nightconfig.core.UnmodifiableConfig;
import com.electronwill.nightconfig.core.io.ParsingException;
import com.electronwill.nightconfig.toml.TomlParser;
import io.helenus.agent.core.Json;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A file of valves that are added when the server starts: an array of tables {@code [[valve]]},
 * with the names of the command {@code valve.add}.
 */
public final class ValvesFile {
  private static final long RETRY_MS = 1_000;
  private static final int RETRIES = 600;

  private final Path path;
  private final Relay relay;
  private final Consumer<String> log;

  public ValvesFile(Path path, Relay relay, Consumer<String> log) {
    this.path = path;
    this.relay = relay;
    this.log = log;
  }

  /** Adds them; what is wrong goes to the log, and the rest is added all the same. */
  public void add() throws InterruptedException {
    List<Map<String, Object>> later = new ArrayList<>();
    try {
      for (Map<String, Object> valve : read(path)) {
        // A stage is there once the server has started it.
        if (valve.containsKey("stage")) {
          later.add(valve);
        } else {
          tell(valve, relay.execute(command(valve)));
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      log.accept("no valves from " + path + ": " + e.getMessage());
    }
    for (int i = 0; i < RETRIES && !later.isEmpty(); i++) {
      boolean last = i == RETRIES - 1;
      later.removeIf(
          valve -> {
            String reply = relay.execute(command(valve));
            boolean done = reply.startsWith("{\"ok\"") || last;
            if (done) {
              tell(valve, reply);
            }
            return done;
          });
      if (!later.isEmpty()) {
        Thread.sleep(RETRY_MS);
      }
    }
  }

  private void tell(Map<String, Object> valve, String reply) {
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
   * @throws IllegalArgumentException naming what is wrong in the file
   */
  static List<Map<String, Object>> read(Path path) throws IOException {
    UnmodifiableConfig file;
    try (Reader in = Files.newBufferedReader(path)) {
      file = new TomlParser().parse(in);
    } catch (ParsingException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    for (UnmodifiableConfig.Entry entry : file.entrySet()) {
      if (!entry.getKey().equals("valve")) {
        throw new IllegalArgumentException(
            "there is no \"" + entry.getKey() + "\"; write [[valve]]");
      }
    }
    if (!(file.get("valve") instanceof List)) {
      throw new IllegalArgumentException("it has no [[valve]]");
    }
    List<Map<String, Object>> valves = new ArrayList<>();
    for (Object valve : (List<?>) file.get("valve")) {
      if (!(valve instanceof UnmodifiableConfig)) {
        throw new IllegalArgumentException("a valve is a table; write [[valve]]");
      }
      valves.add(plain((UnmodifiableConfig) valve));
    }
    return valves;
  }

  private static Map<String, Object> plain(UnmodifiableConfig table) {
    Map<String, Object> plain = new LinkedHashMap<>();
    for (UnmodifiableConfig.Entry entry : table.entrySet()) {
      plain.put(entry.getKey(), plainValue(entry.getRawValue()));
    }
    return plain;
  }

  private static Object plainValue(Object value) {
    if (value instanceof UnmodifiableConfig) {
      return plain((UnmodifiableConfig) value);
    }
    if (value instanceof List) {
      return ((List<?>) value).stream().map(ValvesFile::plainValue).collect(Collectors.toList());
    }
    return value;
  }
}
