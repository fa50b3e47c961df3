package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.helenus.agent.recording.RowBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ValveWindowsTest {
  private static final String ROW =
      "{\"sequence\":%d,\"valve\":\"v\",\"law\":\"fixed\",\"end_ns\":%d,\"interval_ns\":1,"
          + "\"limit\":8,\"next_limit\":8,\"in_flight\":1.0,\"waiting\":0.0,\"elsewhere\":0.0,"
          + "\"completed\":1,\"failed\":0,\"refused\":0,\"let_through\":0,\"out_of_order\":0,"
          + "\"throughput_per_s\":1.0,\"mean_ns\":null,\"wait_mean_ns\":null,\"p50_ns\":null,"
          + "\"p99_ns\":null,\"max_ns\":null,\"gc_share\":0.0,\"limited\":true,"
          + "\"state\":\"on\",\"reason\":\"%d\"}";

  private final Frames frames = new Frames();
  private final Feed feed = frames.feed("valves");
  private final List<String> asked = new ArrayList<>();
  private String reply;
  private final ValveWindows windows =
      new ValveWindows(
          feed,
          command -> {
            asked.add(command);
            return reply;
          });

  /**
   * Simulates an agent that keeps the windows of a range of sequence numbers; the first one is
   * {@code first}.
   */
  private void keeps(long first, long from, long to) {
    String rows =
        LongStream.rangeClosed(from, to)
            .mapToObj(sequence -> String.format(ROW, sequence, Long.MAX_VALUE / 2, sequence))
            .collect(Collectors.joining(","));
    reply = "{\"ok\":{\"first\":" + first + ",\"rows\":[" + rows + "]}}";
    windows.read();
    feed.flush();
  }

  private List<String> reasons() {
    return frames.take().stream()
        .map(row -> (String) row.get("reason"))
        .collect(Collectors.toList());
  }

  private long lost() {
    RowBuffer report = new RowBuffer((frame, count) -> frames.test(frame));
    feed.report(report, 0, 1);
    report.flush();
    return frames.take().get(0).number("lost");
  }

  @Test
  void windowsThatAreNotKeptAnyMoreAreCountedLost() {
    keeps(100, 100, 101);
    keeps(100, 105, 105);
    assertEquals("{\"do\":\"valve.rows\",\"after\":101}", asked.get(1));
    assertEquals(List.of("100", "101", "105"), reasons());
    assertEquals(3, lost());
  }

  @Test
  void whatWasBeforeTheRecordingIsNotLost() {
    keeps(100, 700, 701);
    reasons();
    assertEquals(0, lost());
  }

  @Test
  void theNextAgentsWindowsAreAllThere() {
    keeps(100, 100, 102);
    keeps(9000, 9000, 9001);
    assertEquals(List.of("100", "101", "102", "9000", "9001"), reasons());
    assertEquals(0, lost());
    keeps(50_000, 50_002, 50_002);
    reasons();
    assertEquals(2, lost());
  }

  @Test
  void withoutAnAgentThereIsNothing() {
    reply = null;
    windows.read();
    assertEquals(List.of(), reasons());
  }
}
