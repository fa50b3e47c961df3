package io.helenus.agent.sources;

import io.helenus.agent.recording.Tables;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The statistics of each live SSTable of a table, as sstablemetadata prints them. The {@code
 * SSTableReader}s of the running node have these statistics in memory.
 *
 * <p>Writes a row when an SSTable is first seen, when its level, its repair or its droppable
 * tombstones have changed, and when it is gone. Rows have tokens instead of keys, because keys can
 * be personal data.
 */
final class Sstables {
  static final String SOURCE = "SSTableReader";

  /** A smaller change of the droppable ratio, which grows with time, gets no row. */
  private static final double MIN_CHANGE = 0.01;

  private final Map<String, Changing> known = new HashMap<>();

  /** The fields of an SSTable that can change, as last written. */
  private static final class Changing {
    final long level;
    final long repairedAt;
    final Double droppable;

    Changing(long level, long repairedAt, Double droppable) {
      this.level = level;
      this.repairedAt = repairedAt;
      this.droppable = droppable;
    }

    boolean equalsNearly(Changing other) {
      return other != null
          && level == other.level
          && repairedAt == other.repairedAt
          && (droppable == null
              ? other.droppable == null
              : other.droppable != null && Math.abs(droppable - other.droppable) < MIN_CHANGE);
    }
  }

  /**
   * Writes a row for each SSTable that has changed since the last call.
   *
   * @return false if this release lacks a class or method, so that later calls would fail, too
   */
  boolean read(Feed feed, String keyspace, String table) {
    ClassLoader server = Cassandra.loader();
    if (server == null) {
      return true;
    }
    try {
      read(feed, server, keyspace, table);
      return true;
    } catch (InvocationTargetException e) {
      // An SSTable that was closed meanwhile, or a table that is being dropped.
      return true;
    } catch (ReflectiveOperationException | RuntimeException e) {
      feed.lose(1, "the SSTables cannot be read: " + e);
      return false;
    }
  }

  private void read(Feed feed, ClassLoader server, String keyspace, String table)
      throws ReflectiveOperationException {
    Object store =
        Class.forName("org.apache.cassandra.db.ColumnFamilyStore", false, server)
            .getMethod("getIfExists", String.class, String.class)
            .invoke(null, keyspace, table);
    Set<?> live = store == null ? Set.of() : (Set<?>) call(store, "getLiveSSTables");
    Object gcBefore =
        store == null
            ? 0
            : callWith(
                store, "gcBefore", TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis()));
    Set<String> gone = new HashSet<>(known.keySet());
    for (Object sstable : live) {
      String file = (String) call(sstable, "getFilename");
      Object statistics = call(sstable, "getSSTableMetadata");
      Changing now =
          new Changing(
              whole(field(statistics, "sstableLevel")),
              whole(field(statistics, "repairedAt")),
              finite(callWith(statistics, "getEstimatedDroppableTombstoneRatio", gcBefore)));
      gone.remove(file);
      if (!now.equalsNearly(known.get(file))) {
        write(feed, keyspace, table, file, sstable, statistics, now);
        known.put(file, now);
      }
    }
    for (String file : gone) {
      known.remove(file);
      Tables.sstable(
          feed.rows(),
          feed.at(System.nanoTime()),
          feed.node(),
          keyspace,
          table,
          file,
          false,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          SOURCE);
    }
  }

  private static void write(
      Feed feed,
      String keyspace,
      String table,
      String file,
      Object sstable,
      Object statistics,
      Changing moving)
      throws ReflectiveOperationException {
    long writtenMs = new File(file).lastModified();
    Object sizes = field(statistics, "estimatedPartitionSize");
    Double ratio = finite(field(statistics, "compressionRatio"));
    Tables.sstable(
        feed.rows(),
        feed.at(System.nanoTime()),
        feed.node(),
        keyspace,
        table,
        file,
        true,
        writtenMs == 0 ? null : TimeUnit.MILLISECONDS.toNanos(writtenMs),
        moving.level,
        whole(call(sstable, "bytesOnDisk")),
        whole(call(sstable, "uncompressedLength")),
        // -1 means uncompressed.
        ratio == null || ratio < 0 ? null : ratio,
        whole(call(sizes, "count")),
        whole(field(statistics, "totalRows")),
        whole(field(statistics, "totalColumnsSet")),
        ofHistogram(sizes, "mean"),
        ofHistogram(sizes, "max"),
        moving.droppable,
        whole(field(statistics, "minTimestamp")),
        whole(field(statistics, "maxTimestamp")),
        whole(field(statistics, "minTTL")),
        whole(field(statistics, "maxTTL")),
        moving.repairedAt,
        token(sstable, "First"),
        token(sstable, "Last"),
        SOURCE);
  }

  /** Null if a partition is too large for the histogram. */
  private static Long ofHistogram(Object histogram, String figure) {
    try {
      long value = whole(call(histogram, figure));
      return value == Long.MAX_VALUE ? null : value;
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** 5.0 has {@code getFirst()}, 4.0 and 4.1 the field {@code first}. */
  private static String token(Object sstable, String end) throws ReflectiveOperationException {
    Object key;
    try {
      key = call(sstable, "get" + end);
    } catch (NoSuchMethodException e) {
      key = field(sstable, end.toLowerCase(Locale.ROOT));
    }
    return key == null ? null : String.valueOf(call(key, "getToken"));
  }

  private static Object call(Object target, String method) throws ReflectiveOperationException {
    return target.getClass().getMethod(method).invoke(target);
  }

  /** Seconds are int in 4.0 and 4.1, and long in 5.0. */
  private static Object callWith(Object target, String method, Object seconds)
      throws ReflectiveOperationException {
    long whole = whole(seconds);
    try {
      Method ofLong = target.getClass().getMethod(method, long.class);
      return ofLong.invoke(target, whole);
    } catch (NoSuchMethodException e) {
      return target.getClass().getMethod(method, int.class).invoke(target, (int) whole);
    }
  }

  private static Object field(Object target, String name) throws ReflectiveOperationException {
    return target.getClass().getField(name).get(target);
  }

  private static long whole(Object number) {
    return ((Number) number).longValue();
  }

  private static Double finite(Object number) {
    double value = ((Number) number).doubleValue();
    return Double.isFinite(value) ? value : null;
  }
}
