package io.helenus.agent.points;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

/** The named points of one line of Cassandra, from the agent's folder {@code presets}. */
public final class Preset {
  /** Release lines that have presets. */
  static final List<String> LINES = List.of("4.0", "4.1", "5.0");

  private static final String FOLDER = "io/helenus/agent/presets/";
  private static final String VERSION = "org/apache/cassandra/config/version.properties";

  /** A named point. */
  static final class Entry {
    final String name;
    final boolean mayGate;
    final boolean mayRefuse;
    final Pattern pattern;
    final Guard guard;

    private Entry(String name, List<String> kinds, String point) {
      this.name = name;
      mayGate = kinds.contains("gate");
      mayRefuse = kinds.contains("refuse");
      String[] parts = point.split("\\s+when\\s+", 2);
      pattern = new Pattern(parts[0]);
      guard = parts.length > 1 ? new Guard(parts[1]) : null;
    }
  }

  /** The name of the preset, such as "cassandra-5.0"; null if the server is no Cassandra. */
  public final String name;

  private final Map<String, Entry> entries;

  private Preset(String name, Map<String, Entry> entries) {
    this.name = name;
    this.entries = entries;
  }

  /** The preset of the Cassandra on the class path; one without points if there is none. */
  public static Preset ofServer() {
    String version = version();
    for (String line : LINES) {
      if (version != null && version.startsWith(line + ".")) {
        return read(line);
      }
    }
    return new Preset(null, Map.of());
  }

  /** The release of the Cassandra on the class path, which need not have started. */
  private static String version() {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(VERSION)) {
      Properties properties = new Properties();
      if (in != null) {
        properties.load(in);
      }
      return properties.getProperty("CassandraVersion");
    } catch (IOException e) {
      return null;
    }
  }

  static Preset read(String line) {
    String name = "cassandra-" + line;
    InputStream file = Preset.class.getClassLoader().getResourceAsStream(FOLDER + name);
    if (file == null) {
      throw new Refusal(
          "the named points of " + name + " can't be read: this JVM has had an older agent",
          "name the methods in full, or restart the server");
    }
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
      Map<String, Entry> entries = new LinkedHashMap<>();
      for (String row : in.lines().collect(Collectors.toList())) {
        if (!row.isBlank() && !row.startsWith("#")) {
          String[] cells = row.split("\\s*\\|\\s*", 3);
          entries.put(cells[0], new Entry(cells[0], List.of(cells[1].split(" ")), cells[2]));
        }
      }
      return new Preset(name, entries);
    } catch (IOException e) {
      throw new Refusal("the named points of " + name + " can't be read: " + e, "attach again");
    }
  }

  /** Returns null if there is no such name. */
  Entry entry(String name) {
    return entries.get(name);
  }

  Map<String, Entry> entries() {
    return entries;
  }
}
