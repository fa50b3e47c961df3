package io.helenus.agent.sources;

import io.helenus.agent.recording.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/** An outbox that decodes its frames. */
final class Frames implements Predicate<byte[]> {
  final List<Schema.Row> rows = new ArrayList<>();
  final List<byte[]> others = new ArrayList<>();
  boolean full;

  @Override
  public boolean test(byte[] frame) {
    byte[] payload = Arrays.copyOfRange(frame, 5, frame.length);
    if (full) {
      return false;
    }
    if (frame[4] == 1) {
      rows.addAll(Schema.decode(payload));
    } else {
      others.add(payload);
    }
    return true;
  }

  Feed feed(String source) {
    return new Feed(source, "test", "127.0.0.1", 0, this);
  }

  /** The rows since the last take. */
  List<Schema.Row> take() {
    List<Schema.Row> taken = List.copyOf(rows);
    rows.clear();
    return taken;
  }
}
