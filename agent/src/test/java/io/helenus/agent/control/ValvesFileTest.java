package io.helenus.agent.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ValvesFileTest {
  @TempDir Path folder;

  private Path file(String text) throws Exception {
    return Files.writeString(folder.resolve("valves.toml"), text);
  }

  @Test
  void valvesAreReadByTheNamesOfTheCommand() throws Exception {
    List<Map<String, Object>> valves =
        ValvesFile.read(
            file(
                "# For the hot partitions.\n"
                    + "[[valve]]\nname = \"lwt\"\nat = [\"lwt\"]\nlaw = \"throughput\"\nmax = 64\n"
                    + "refuse = false\n[valve.parameters]\nfloor = 0.9\n"
                    + "[[valve]]\nname = \"c\"\nstage = \"compaction\"\nlaw = \"fixed\"\n"));
    assertEquals(
        List.of("lwt", "c"), List.of(valves.get(0).get("name"), valves.get(1).get("name")));
    assertEquals(Map.of("floor", 0.9), valves.get(0).get("parameters"));
    assertEquals(List.of("lwt"), valves.get(0).get("at"));
  }

  @Test
  void anErrorNamesItsLine() throws Exception {
    Path path = file("[[valve]]\nname = \"lwt\"\nmax = \n");
    IllegalArgumentException error =
        assertThrows(IllegalArgumentException.class, () -> ValvesFile.read(path));
    assertTrue(error.getMessage().contains("line 3"), error.getMessage());
  }

  @Test
  void whatIsWrongIsSaid() throws Exception {
    for (String text : List.of("", "[valves]\nx = 1\n", "[[valve]\n", "valve = 3\n")) {
      Path path = file(text);
      IllegalArgumentException error =
          assertThrows(IllegalArgumentException.class, () -> ValvesFile.read(path));
      assertTrue(error.getMessage().length() > 5, text);
    }
  }
}
