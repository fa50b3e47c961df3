package io.helenus.agent.sources;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helenus.agent.recording.Schema;
import io.helenus.agent.recording.Tables;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SamplerTest {
  private final Frames frames = new Frames();
  private final Feed feed = frames.feed("stalls");
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  private List<Schema.Row> run(SampledSource sample, CountDownLatch enough) throws Exception {
    Frames reports = new Frames();
    Sampler sampler =
        new Sampler(
            1, List.of(sample), List.of(feed), (frame, rows) -> reports.test(frame), log::add);
    sampler.start();
    enough.await();
    sampler.stop(20_000);
    sampler.report();
    return reports.take();
  }

  private SampledSource sample(Runnable read) {
    return new SampledSource(feed) {
      @Override
      void read() {
        read.run();
      }
    };
  }

  private static long total(List<Schema.Row> reports, String column) {
    return reports.stream().mapToLong(row -> row.number(column)).sum();
  }

  private void row() {
    Tables.stall(feed.rows(), 1, 2, "server", "127.0.0.1", "watcher", null, null, null);
  }

  @Test
  void whatIsCapturedIsReported() throws Exception {
    CountDownLatch enough = new CountDownLatch(5);
    List<Schema.Row> reports =
        run(
            sample(
                () -> {
                  row();
                  enough.countDown();
                }),
            enough);
    assertTrue(frames.rows.size() >= 5);
    assertEquals(frames.rows.size(), total(reports, "captured"));
    assertEquals(0, total(reports, "lost"));
    assertEquals("stalls", reports.get(0).get("source"));
    assertEquals("test", reports.get(0).get("provider"));
    assertEquals("", reports.get(0).get("lost_reason"));
    assertTrue(total(reports, "cpu_ns") > 0);
  }

  @Test
  void whatChangesFastIsReadInBetween() throws Exception {
    CountDownLatch enough = new CountDownLatch(9);
    List<Integer> before = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger whole = new AtomicInteger();
    run(
        new SampledSource(feed) {
          @Override
          void read() {
            row();
            whole.incrementAndGet();
          }

          @Override
          void readBetween() {
            row();
            before.add(whole.get());
            enough.countDown();
          }
        },
        enough);
    assertEquals(Collections.nCopies(9, 1), before.subList(0, 9), "nine after the first");
    assertTrue(frames.rows.size() >= 10, "rows of both are sent");
  }

  @Test
  void whatFindsNoRoomIsReportedLostWithItsReason() throws Exception {
    frames.full = true;
    CountDownLatch enough = new CountDownLatch(3);
    List<Schema.Row> reports =
        run(
            sample(
                () -> {
                  row();
                  row();
                  enough.countDown();
                }),
            enough);
    assertEquals(total(reports, "captured"), total(reports, "lost"));
    assertTrue(total(reports, "lost") >= 6);
    String reasons =
        reports.stream().map(row -> (String) row.get("lost_reason")).collect(Collectors.joining());
    assertTrue(reasons.contains("too slow"), reasons);
  }

  @Test
  void aSampleThatFailsIsLoggedOnceAndTriedAgain() throws Exception {
    CountDownLatch enough = new CountDownLatch(5);
    List<Schema.Row> reports =
        run(
            sample(
                () -> {
                  row();
                  enough.countDown();
                  throw new IllegalStateException("gone");
                }),
            enough);
    assertEquals(1, log.size());
    assertTrue(log.get(0).contains("stalls") && log.get(0).contains("gone"), log.get(0));
    assertTrue(total(reports, "lost") >= 5);
    assertTrue(frames.rows.isEmpty());
  }

  @Test
  void aSampleThatTakesLongIsReadLessOften() {
    SampledSource sample = sample(() -> {});
    long at = System.nanoTime();
    sample.setCost(500_000_000, at);
    assertTrue(sample.isDue(at), "the first reading is of code that was never run before");
    sample.setCost(14_000_000, at);
    assertFalse(sample.isDue(at + 1_999_000_000));
    assertTrue(sample.isDue(at + 2_001_000_000));
    sample.setCost(7_000_000, at);
    assertTrue(sample.isDue(at + 1_001_000_000), "as often as it may be by the cheaper of two");
  }
}
