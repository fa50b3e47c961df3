package io.helenus.agent.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads rows by the schema's declaration, to test the code that is generated from it. */
public final class Schema {
  private static final class Column {
    final Map<String, String> values = new HashMap<>();
  }

  private static final Map<String, List<Column>> TABLES = tables();

  private Schema() {}

  /** A decoded row, by column. */
  public static final class Row extends LinkedHashMap<String, Object> {
    private static final long serialVersionUID = 1L;
    public transient String table;

    public long number(String column) {
      return (Long) get(column);
    }

    /** Start plus duration, for tables that have them. */
    public long endNs() {
      return number("start_ns") + number("duration_ns");
    }
  }

  /** The rows of a ROWS frame from after its kind on. */
  public static List<Row> decode(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
    String table = List.copyOf(TABLES.keySet()).get(in.get());
    int count = in.getInt();
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Row row = new Row();
      row.table = table;
      for (Column column : TABLES.get(table)) {
        row.put(column.values.get("name"), value(in, column));
      }
      rows.add(row);
    }
    if (in.hasRemaining()) {
      throw new IllegalArgumentException(in.remaining() + " bytes after the last row of " + table);
    }
    return rows;
  }

  private static Object value(ByteBuffer in, Column column) {
    if ("true".equals(column.values.get("nullable")) && in.get() == 0) {
      return null;
    }
    switch (column.values.get("type")) {
      case "INT64":
        return in.getLong();
      case "DOUBLE":
        return in.getDouble();
      case "BOOL":
        return in.get() != 0;
      default:
        byte[] utf8 = new byte[in.getInt()];
        in.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }
  }

  private static Map<String, List<Column>> tables() {
    try (Stream<Path> files = Files.list(Path.of("..", "schema"))) {
      Map<String, List<Column>> tables = new LinkedHashMap<>();
      for (Path file : files.sorted().collect(Collectors.toList())) {
        List<Column> columns = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
          String[] assignment = line.split(" = ", 2);
          if (line.equals("[[column]]")) {
            columns.add(new Column());
          } else if (!columns.isEmpty() && assignment.length == 2) {
            String value = assignment[1].replaceAll("^\"|\"$", "");
            columns.get(columns.size() - 1).values.put(assignment[0], value);
          }
        }
        tables.put(file.getFileName().toString().replace(".toml", ""), columns);
      }
      return tables;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
