package io.helenus.agent.sources;

import io.helenus.agent.recording.RowBuffer;
import io.helenus.agent.recording.Tables;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/**
 * Puts the rows of pauses together from JFR's events, several of which tell of one pause.
 *
 * <p>A collection's own event, jdk.GarbageCollection, spans its concurrent work too, in G1's
 * concurrent cycle, in ZGC and in Shenandoah. So a row of kind gc is a jdk.GCPhasePause, in which
 * threads stood, and the collection gives only its name and cause. It comes when the collection
 * ends, which may be long after its pauses: they wait for it for some flushes.
 *
 * <p>A safepoint stands from the start of jdk.SafepointBegin, when the threads are asked to stop,
 * to the end of jdk.SafepointEnd.
 */
final class PauseAssembly {
  /** What G1, Parallel and Serial call a collection's only pause. */
  private static final String ONLY_PAUSE = "GC Pause";

  private static final int LONGEST_WAIT_FLUSHES = 10;
  private static final int MOST_COLLECTIONS = 256;
  private static final int MOST_SAFEPOINTS = 1024;

  private static final class Stop {
    String name;
    boolean whole;
    long startNs;
    long durationNs;
    boolean onMonotonic;
  }

  private static final class Collection {
    final long id;
    String name;
    String cause;
    Long heapBefore;
    Long heapAfter;
    boolean ended;
    int flushesWaited;
    final List<Stop> stops = new ArrayList<>();

    Collection(long id) {
      this.id = id;
    }
  }

  private static final class Safepoint {
    Long startNs;
    Long monotonicNs;
    Long endNs;
    Long stoodNs;
    String operation;
  }

  private final String node;
  private final Map<Long, Collection> collections = new LinkedHashMap<>();
  private final Map<Long, Safepoint> safepoints = new LinkedHashMap<>();

  PauseAssembly(String node) {
    this.node = node;
  }

  void collection(long gcId, String name, String cause) {
    Collection collection = collections.computeIfAbsent(gcId, Collection::new);
    collection.name = name;
    collection.cause = cause;
    collection.ended = true;
  }

  void heap(long gcId, boolean before, long usedBytes) {
    Collection collection = collections.computeIfAbsent(gcId, Collection::new);
    if (before) {
      collection.heapBefore = usedBytes;
    } else {
      collection.heapAfter = usedBytes;
    }
  }

  /**
   * @param whole whether it is a whole pause or a phase of one
   */
  void pause(long gcId, String name, boolean whole, long startNs, long durationNs) {
    Stop stop = new Stop();
    stop.name = name.strip();
    stop.whole = whole;
    stop.startNs = startNs;
    stop.durationNs = durationNs;
    collections.computeIfAbsent(gcId, Collection::new).stops.add(stop);
  }

  void safepointBegins(long safepointId, long startNs) {
    safepoints.computeIfAbsent(safepointId, id -> new Safepoint()).startNs = startNs;
  }

  void threadsStand(long safepointId, long atNs) {
    safepoints.computeIfAbsent(safepointId, id -> new Safepoint()).stoodNs = atNs;
  }

  /** What was done in a safepoint. */
  void operation(long safepointId, String operation) {
    safepoints.computeIfAbsent(safepointId, id -> new Safepoint()).operation = operation;
  }

  void safepointEnded(long safepointId, long endNs) {
    safepoints.computeIfAbsent(safepointId, id -> new Safepoint()).endNs = endNs;
  }

  /**
   * At a flush: writes what is whole, or has waited long enough.
   *
   * @param clock from the times of JFR to those of rows; holds for what came since the last flush
   * @param last whether nothing will come any more
   */
  void write(RowBuffer rows, LongUnaryOperator clock, boolean last) {
    writeSafepoints(rows, clock);
    Iterator<Collection> iterator = collections.values().iterator();
    while (iterator.hasNext()) {
      Collection collection = iterator.next();
      for (Stop stop : collection.stops) {
        if (!stop.onMonotonic) {
          stop.startNs = clock.applyAsLong(stop.startNs);
          stop.onMonotonic = true;
        }
      }
      boolean whole = collection.ended && collection.heapAfter != null;
      boolean late =
          collection.ended && collection.flushesWaited > 0
              || collection.flushesWaited >= LONGEST_WAIT_FLUSHES;
      collection.flushesWaited++;
      if (whole || late || last || collections.size() > MOST_COLLECTIONS) {
        write(rows, collection);
        iterator.remove();
      }
    }
  }

  private void write(RowBuffer rows, Collection collection) {
    for (Stop stop : collection.stops) {
      if (stop.whole) {
        write(rows, collection, stop, null);
      }
      if (!stop.name.equals(ONLY_PAUSE)) {
        write(rows, collection, stop, stop.name);
      }
    }
  }

  private void write(RowBuffer rows, Collection collection, Stop stop, String phase) {
    Tables.pause(
        rows,
        stop.startNs,
        stop.durationNs,
        node,
        "gc",
        collection.id,
        collection.name,
        collection.cause,
        phase,
        collection.heapBefore,
        collection.heapAfter,
        null,
        "jfr");
  }

  private void writeSafepoints(RowBuffer rows, LongUnaryOperator clock) {
    Iterator<Safepoint> iterator = safepoints.values().iterator();
    while (iterator.hasNext()) {
      Safepoint safepoint = iterator.next();
      if (safepoint.startNs != null && safepoint.monotonicNs == null) {
        safepoint.monotonicNs = clock.applyAsLong(safepoint.startNs);
      }
      // One whose start came before the stream did has no length.
      if (safepoint.endNs != null && safepoint.startNs != null) {
        Long timeToSafepoint =
            safepoint.stoodNs == null ? null : safepoint.stoodNs - safepoint.startNs;
        Tables.pause(
            rows,
            safepoint.monotonicNs,
            safepoint.endNs - safepoint.startNs,
            node,
            "safepoint",
            null,
            safepoint.operation,
            null,
            null,
            null,
            null,
            timeToSafepoint,
            "jfr");
      }
      if (safepoint.endNs != null || safepoints.size() > MOST_SAFEPOINTS) {
        iterator.remove();
      }
    }
  }
}
