package io.helenus.agent.tuning;

import io.helenus.agent.core.Json;
import io.helenus.agent.points.Refusal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.management.ObjectName;

/** A numeric setting of the whole node, by the MBean that 4.0, 4.1 and 5.0 share. */
enum NumericSetting implements Setting {
  /** Compaction throughput in MiB/s, over all compactions of the node; 0 for no limit. */
  COMPACTION_THROUGHPUT(Beans.STORAGE, "CompactionThroughputMbPerSec", 0) {
    /** Since 4.1 the setting may have another unit, but the MBean takes only whole MiB/s. */
    @Override
    public Object read() {
      Object bytes = Beans.getOrNull(Beans.name(Beans.STORAGE), "CompactionThroughtputBytesPerSec");
      if (bytes instanceof Number && ((Number) bytes).longValue() % (1 << 20) != 0) {
        throw new Refusal(
            "compaction-throughput is "
                + bytes
                + " bytes/s, which could not be put back exactly afterwards",
            "set it to whole MiB/s first (nodetool setcompactionthroughput)");
      }
      return super.read();
    }
  },
  CONCURRENT_COMPACTORS(Beans.STORAGE, "ConcurrentCompactors", 1),
  /** Bytes of all requests that were read and are not answered yet. */
  CONCURRENT_REQUEST_BYTES(Beans.STORAGE, "NativeTransportMaxConcurrentRequestsInBytes", 1),
  /** The same limit for each client address. */
  CONCURRENT_REQUEST_BYTES_PER_IP(
      Beans.STORAGE, "NativeTransportMaxConcurrentRequestsInBytesPerIp", 1),
  NATIVE_TRANSPORT_THREADS("org.apache.cassandra.transport:type=Native-Transport-Requests"),
  READ_THREADS("org.apache.cassandra.request:type=ReadStage"),
  MUTATION_THREADS("org.apache.cassandra.request:type=MutationStage"),
  COUNTER_MUTATION_THREADS("org.apache.cassandra.request:type=CounterMutationStage"),
  VIEW_MUTATION_THREADS("org.apache.cassandra.request:type=ViewMutationStage");

  private final ObjectName bean;
  private final String attribute;
  private final long least;

  /** The largest number of threads of a stage. */
  NumericSetting(String stage) {
    this(stage, "MaximumPoolSize", 1);
  }

  NumericSetting(String bean, String attribute, long least) {
    this.bean = Beans.name(bean);
    this.attribute = attribute;
    this.least = least;
  }

  static NumericSetting of(String name) {
    return Arrays.stream(values())
        .filter(setting -> setting.setting().equals(name))
        .findFirst()
        .orElse(null);
  }

  static List<String> names() {
    return Arrays.stream(values()).map(NumericSetting::setting).collect(Collectors.toList());
  }

  @Override
  public String setting() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public String table() {
    return null;
  }

  @Override
  public Object read() {
    return ((Number) Beans.get(bean, attribute)).longValue();
  }

  @Override
  public void write(Object value) {
    boolean isLong = Beans.get(bean, attribute) instanceof Long;
    long most = isLong ? Long.MAX_VALUE : Integer.MAX_VALUE;
    if (!(value instanceof Long) || (Long) value < least || (Long) value > most) {
      throw new Refusal(
          setting() + " is " + Json.write(value), "give a whole number from " + least + " on");
    }
    Beans.set(bean, attribute, isLong ? value : (Object) ((Long) value).intValue());
  }
}
