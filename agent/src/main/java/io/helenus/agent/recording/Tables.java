// Generated from schema/ by `cargo xtask generate`. Do not edit.
package io.helenus.agent.recording;

/** The tables of a recording: their index in the agent's protocol, and how to encode a row of each. */
public final class Tables {
  public static final String FINGERPRINT = "6c8f6006c187ff89";

  /** The coordinator's time for requests, by Cassandra's own exact counters (its metrics ClientRequest): one row per interval and kind of request, where there were any. The time begins when a request is decoded and ends when its answer is decided. It excludes the wait for a thread, and decoding and encoding the message. */
  public static final int CLIENT_REQUESTS = 0;

  /** One row per connection of a client whose driver is known: from STARTUP as it passed, or from what the node said of the connections that were open when the recording began. */
  public static final int CONNECTIONS = 1;

  /** Counts of the kernel and the CPUs for a node's threads, added up by thread group: one row per interval and group that ran. Threads that began and ended between two readings are left out; sources has their CPU time. */
  public static final int COUNTERS = 2;

  /** Time of each CPU of the machine in an interval, by state, from /proc/stat. */
  public static final int CPUS = 3;

  /** Requests, bytes and time of each disk in an interval, from /proc/diskstats. A disk without a request in the interval has no row; partitions and loop devices have none. */
  public static final int DISKS = 4;

  /** Events during the recording. The node's log tells of compactions, flushes, repair, streaming, hints, schema changes, nodes up and down, long collections and pauses, time-outs, and warnings, without the texts of statements. The recorder sees when the node's process ended or was started again, and when it answered nobody. */
  public static final int EVENTS = 5;

  /** Findings of explain, most important first. */
  public static final int FINDINGS = 6;

  /** Interrupts that each CPU of the machine served in an interval, from /proc/interrupts and /proc/softirqs. An interrupt that did not come in the interval has no row. */
  public static final int INTERRUPTS = 7;

  /** Named stretches of time on the clock of the recording, such as the phases of a load. */
  public static final int MARKS = 8;

  /** Moves of threads of a watched process from one CPU to another, added up in the kernel: one row per interval, thread group and pair of CPUs. */
  public static final int MIGRATIONS = 9;

  /** Figures of a node as a whole that its advice rests on, by Cassandra's own metrics: caches, dropped messages, coordinated requests, batches, compactions. Read every 5 s; a row when a figure has changed. */
  public static final int NODE_METRICS = 10;

  /** Limits of a node from outside in an interval: the quota and pressure of its cgroup, page faults that read from a disk, and segments that its network sent again. */
  public static final int NODE_PRESSURE = 11;

  /** One row per time in which a thread of a watched process was off the CPU for as long as was asked for, or longer. Sorted within about a fifth of a second only, by the end. */
  public static final int OFF_CPU = 12;

  /** Reads from disks into the page cache for a watched process, added up in the kernel: one row per interval, thread group, file and way. Reads that the cache answered and reads past it (O_DIRECT) are left out. */
  public static final int PAGE_CACHE = 13;

  /** Times in which the JVM of a node stopped its threads. */
  public static final int PAUSES = 14;

  /** Thread pools of a node, as its own metrics give them. */
  public static final int POOLS = 15;

  /** How long tasks of the machine waited for a resource in an interval, from /proc/pressure. An interval without a wait has no row. */
  public static final int PRESSURE = 16;

  /** Which probe's method was called within which: the call tree of the probes, one row per interval, pair and thread group. All counts and sums may be added up. */
  public static final int PROBE_CALLS = 17;

  /** How long the calls took that probes metered: one row per interval, probe, thread group and bin of duration. */
  public static final int PROBE_LATENCY = 18;

  /** Measurements of a node's probes: one row per interval, probe and thread group. A probe that was not called has no row, except one that says that it was switched off. All but the largest may be added up. */
  public static final int PROBES = 19;

  /** The processes of the machine that used the most CPU time in an interval, from /proc: those with at least one hundredth of a CPU, twenty at most. */
  public static final int PROCESSES = 20;

  /** One row per request that the load driver sent, as the client saw it. */
  public static final int REQUESTS = 21;

  /** Figures of each variant of an experiment in each block, over its measured phases: one row per figure. Written when the experiment is judged, whole blocks or not. */
  public static final int RESULTS = 22;

  /** Times that threads of a watched process were ready to run and waited for a CPU, added up in the kernel: one row per interval, thread group, cause and bin of delay. All counts and sums may be added up over any of these. */
  public static final int RUN_QUEUE = 23;

  /** Stack of a thread at a moment, from the profiler or from eBPF. One row per sample. */
  public static final int SAMPLES = 24;

  /** How a node, its JVM and its disks are set up: every setting once at the start, and again when it has changed. Of Cassandra's own settings those that say something of performance; none that holds a secret. */
  public static final int SETTINGS = 25;

  /** Rows that each source of the recording captured and lost, and its CPU time, per interval. */
  public static final int SOURCES = 26;

  /** Each SSTable of a node, as its own statistics have it (what sstablemetadata prints): one row when it is first seen, another when something of it has changed, and one when it is gone. Cassandra's own tables are left out. */
  public static final int SSTABLES = 27;

  /** The stacks of the tables samples and off_cpu, each once per node, source and recording. A number stands for the same stack in every recording, so that merged ones agree; take one row of a number. */
  public static final int STACKS = 28;

  /** Times in which a process did not run though it should have: measured by a thread that sleeps for a short time and looks how much later it woke (as jHiccup does), and by how far the load driver was behind its schedule. */
  public static final int STALLS = 29;

  /** System calls of a watched process added up in the kernel: one row per interval, thread group, call, file and bin of duration. All counts and sums may be added up over any of these. */
  public static final int SYSCALL_SUMMARY = 30;

  /** One row per system call of a watched process that began and ended while it was recorded. Sorted within about a fifth of a second only. */
  public static final int SYSCALLS = 31;

  /** Definition of each table, and other facts that seldom change: each once at the start, and again when it has changed. Cassandra's own tables are left out. */
  public static final int TABLE_FACTS = 32;

  /** Figures of each table of a node, as its own metrics give them. Counters count since the node started. */
  public static final int TABLE_STATS = 33;

  /** CPU time and switches of each thread of a process in an interval. A thread that did not run in the interval has no row. */
  public static final int THREADS = 34;

  /** Measurements and decisions of a node's valves: one row per window. */
  public static final int VALVES = 35;

  /** One row per request that came in from the network and was answered, as its packets passed the node's side of it. Sorted by when the answer passed, within about a fifth of a second. */
  public static final int WIRE = 36;

  private Tables() {}

  public static void clientRequests(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String kind,
      long count,
      long totalNs) {
    rows.row(CLIENT_REQUESTS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(kind);
    rows.int64(count);
    rows.int64(totalNs);
  }

  public static void clientConnection(
      RowBuffer rows,
      long timeNs,
      String node,
      String client,
      long clientPort,
      String driver,
      String driverVersion) {
    rows.row(CONNECTIONS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(client);
    rows.int64(clientPort);
    rows.nullableString(driver);
    rows.nullableString(driverVersion);
  }

  public static void counterSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String threadGroup,
      long cpuNs,
      long pageFaults,
      Long contextSwitches,
      Long migrations,
      Long cycles,
      Long instructions,
      Long cacheReferences,
      Long cacheMisses,
      Long enabledNs,
      Long runningNs) {
    rows.row(COUNTERS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(threadGroup);
    rows.int64(cpuNs);
    rows.int64(pageFaults);
    rows.nullableInt64(contextSwitches);
    rows.nullableInt64(migrations);
    rows.nullableInt64(cycles);
    rows.nullableInt64(instructions);
    rows.nullableInt64(cacheReferences);
    rows.nullableInt64(cacheMisses);
    rows.nullableInt64(enabledNs);
    rows.nullableInt64(runningNs);
  }

  public static void cpuSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      long cpu,
      long userNs,
      long systemNs,
      long iowaitNs,
      long irqNs,
      long softirqNs,
      long stealNs,
      long idleNs) {
    rows.row(CPUS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.int64(cpu);
    rows.int64(userNs);
    rows.int64(systemNs);
    rows.int64(iowaitNs);
    rows.int64(irqNs);
    rows.int64(softirqNs);
    rows.int64(stealNs);
    rows.int64(idleNs);
  }

  public static void diskSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String device,
      long reads,
      long readBytes,
      long readNs,
      long writes,
      long writtenBytes,
      long writeNs,
      long busyNs) {
    rows.row(DISKS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(device);
    rows.int64(reads);
    rows.int64(readBytes);
    rows.int64(readNs);
    rows.int64(writes);
    rows.int64(writtenBytes);
    rows.int64(writeNs);
    rows.int64(busyNs);
  }

  public static void nodeEvent(
      RowBuffer rows,
      long timeNs,
      String node,
      String kind,
      String what,
      String logger) {
    rows.row(EVENTS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(kind);
    rows.string(what);
    rows.string(logger);
  }

  public static void finding(
      RowBuffer rows,
      long rank,
      String finding,
      String severity,
      String title,
      String detail,
      String node,
      long windowStartNs,
      long windowEndNs,
      Double share,
      Double chanceShare,
      Double pValue,
      String query,
      String evidence) {
    rows.row(FINDINGS);
    rows.int64(rank);
    rows.string(finding);
    rows.string(severity);
    rows.string(title);
    rows.string(detail);
    rows.string(node);
    rows.int64(windowStartNs);
    rows.int64(windowEndNs);
    rows.nullableFloat64(share);
    rows.nullableFloat64(chanceShare);
    rows.nullableFloat64(pValue);
    rows.string(query);
    rows.string(evidence);
  }

  public static void interrupts(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      long cpu,
      String kind,
      String interrupt,
      String device,
      long count) {
    rows.row(INTERRUPTS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.int64(cpu);
    rows.string(kind);
    rows.string(interrupt);
    rows.string(device);
    rows.int64(count);
  }

  public static void mark(
      RowBuffer rows,
      long startNs,
      long endNs,
      String kind,
      String name,
      Double ratePerS,
      Double endRatePerS,
      Long inFlight,
      boolean measured,
      Long block) {
    rows.row(MARKS);
    rows.int64(startNs);
    rows.int64(endNs);
    rows.string(kind);
    rows.string(name);
    rows.nullableFloat64(ratePerS);
    rows.nullableFloat64(endRatePerS);
    rows.nullableInt64(inFlight);
    rows.bool(measured);
    rows.nullableInt64(block);
  }

  public static void migrations(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String threadGroup,
      long fromCpu,
      long toCpu,
      long count) {
    rows.row(MIGRATIONS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(threadGroup);
    rows.int64(fromCpu);
    rows.int64(toCpu);
    rows.int64(count);
  }

  public static void nodeMetric(
      RowBuffer rows,
      long timeNs,
      String node,
      String kind,
      String scope,
      String metric,
      String attribute,
      long value) {
    rows.row(NODE_METRICS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(kind);
    rows.string(scope);
    rows.string(metric);
    rows.string(attribute);
    rows.int64(value);
  }

  public static void nodePressure(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      Long periods,
      Long throttledPeriods,
      Long throttledNs,
      Long cpuSomeNs,
      Long ioSomeNs,
      Long memorySomeNs,
      Long majorFaults,
      Long sentSegments,
      Long retransmittedSegments) {
    rows.row(NODE_PRESSURE);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.nullableInt64(periods);
    rows.nullableInt64(throttledPeriods);
    rows.nullableInt64(throttledNs);
    rows.nullableInt64(cpuSomeNs);
    rows.nullableInt64(ioSomeNs);
    rows.nullableInt64(memorySomeNs);
    rows.nullableInt64(majorFaults);
    rows.nullableInt64(sentSegments);
    rows.nullableInt64(retransmittedSegments);
  }

  public static void offCpu(
      RowBuffer rows,
      long startNs,
      long durationNs,
      long runQueueNs,
      String node,
      long tid,
      String thread,
      String threadGroup,
      String reason,
      long fromCpu,
      long toCpu,
      Long byTid,
      String byThread,
      String byProcess,
      Long stack) {
    rows.row(OFF_CPU);
    rows.int64(startNs);
    rows.int64(durationNs);
    rows.int64(runQueueNs);
    rows.string(node);
    rows.int64(tid);
    rows.string(thread);
    rows.string(threadGroup);
    rows.string(reason);
    rows.int64(fromCpu);
    rows.int64(toCpu);
    rows.nullableInt64(byTid);
    rows.string(byThread);
    rows.string(byProcess);
    rows.nullableInt64(stack);
  }

  public static void pageCacheReads(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String threadGroup,
      String file,
      String device,
      long inode,
      String how,
      long faults,
      long bytes) {
    rows.row(PAGE_CACHE);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(threadGroup);
    rows.string(file);
    rows.string(device);
    rows.int64(inode);
    rows.string(how);
    rows.int64(faults);
    rows.int64(bytes);
  }

  public static void pause(
      RowBuffer rows,
      long startNs,
      long durationNs,
      String node,
      String kind,
      Long gcId,
      String collector,
      String cause,
      String phase,
      Long heapBeforeBytes,
      Long heapAfterBytes,
      Long timeToSafepointNs,
      String provider) {
    rows.row(PAUSES);
    rows.int64(startNs);
    rows.int64(durationNs);
    rows.string(node);
    rows.string(kind);
    rows.nullableInt64(gcId);
    rows.nullableString(collector);
    rows.nullableString(cause);
    rows.nullableString(phase);
    rows.nullableInt64(heapBeforeBytes);
    rows.nullableInt64(heapAfterBytes);
    rows.nullableInt64(timeToSafepointNs);
    rows.string(provider);
  }

  public static void poolSample(
      RowBuffer rows,
      long timeNs,
      String node,
      String pool,
      String kind,
      long active,
      long pending,
      long completed,
      long blocked,
      long totalBlocked,
      Long maxSize) {
    rows.row(POOLS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(pool);
    rows.string(kind);
    rows.int64(active);
    rows.int64(pending);
    rows.int64(completed);
    rows.int64(blocked);
    rows.int64(totalBlocked);
    rows.nullableInt64(maxSize);
  }

  public static void pressure(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String resource,
      long someNs,
      long fullNs) {
    rows.row(PRESSURE);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(resource);
    rows.int64(someNs);
    rows.int64(fullNs);
  }

  public static void probeCall(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String caller,
      String probe,
      String threadGroup,
      long calls,
      long totalNs) {
    rows.row(PROBE_CALLS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(caller);
    rows.string(probe);
    rows.string(threadGroup);
    rows.int64(calls);
    rows.int64(totalNs);
  }

  public static void probeLatency(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String probe,
      String threadGroup,
      long lowNs,
      long highNs,
      long count) {
    rows.row(PROBE_LATENCY);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(probe);
    rows.string(threadGroup);
    rows.int64(lowNs);
    rows.int64(highNs);
    rows.int64(count);
  }

  public static void probeSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String probe,
      String threadGroup,
      long calls,
      long failed,
      long totalNs,
      long inherentNs,
      long maxNs,
      Long cpuNs,
      Long allocatedBytes,
      String offReason) {
    rows.row(PROBES);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(probe);
    rows.string(threadGroup);
    rows.int64(calls);
    rows.int64(failed);
    rows.int64(totalNs);
    rows.int64(inherentNs);
    rows.int64(maxNs);
    rows.nullableInt64(cpuNs);
    rows.nullableInt64(allocatedBytes);
    rows.nullableString(offReason);
  }

  public static void processSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      long pid,
      String process,
      String role,
      long cpuNs) {
    rows.row(PROCESSES);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.int64(pid);
    rows.string(process);
    rows.string(role);
    rows.int64(cpuNs);
  }

  public static void request(
      RowBuffer rows,
      long intendedStartNs,
      long startNs,
      long endNs,
      String node,
      String operation,
      String outcome,
      Long connection,
      Long clientPort,
      Long stream,
      Long requestBytes,
      Long responseBytes,
      Long number,
      boolean stalled) {
    rows.row(REQUESTS);
    rows.int64(intendedStartNs);
    rows.int64(startNs);
    rows.int64(endNs);
    rows.string(node);
    rows.string(operation);
    rows.string(outcome);
    rows.nullableInt64(connection);
    rows.nullableInt64(clientPort);
    rows.nullableInt64(stream);
    rows.nullableInt64(requestBytes);
    rows.nullableInt64(responseBytes);
    rows.nullableInt64(number);
    rows.bool(stalled);
  }

  public static void variantResult(
      RowBuffer rows,
      long startNs,
      String variant,
      long block,
      String metric,
      String unit,
      double value) {
    rows.row(RESULTS);
    rows.int64(startNs);
    rows.string(variant);
    rows.int64(block);
    rows.string(metric);
    rows.string(unit);
    rows.float64(value);
  }

  public static void runQueueDelay(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String threadGroup,
      String after,
      long lowNs,
      long highNs,
      long count,
      long totalNs) {
    rows.row(RUN_QUEUE);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(threadGroup);
    rows.string(after);
    rows.int64(lowNs);
    rows.int64(highNs);
    rows.int64(count);
    rows.int64(totalNs);
  }

  public static void stackSample(
      RowBuffer rows,
      long timeNs,
      String node,
      String event,
      long weight,
      long tid,
      String thread,
      String threadGroup,
      long stack) {
    rows.row(SAMPLES);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(event);
    rows.int64(weight);
    rows.int64(tid);
    rows.string(thread);
    rows.string(threadGroup);
    rows.int64(stack);
  }

  public static void setting(
      RowBuffer rows,
      long timeNs,
      String node,
      String setting,
      String value,
      String source) {
    rows.row(SETTINGS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(setting);
    rows.string(value);
    rows.string(source);
  }

  public static void sourceReport(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String source,
      String node,
      String provider,
      long captured,
      long lost,
      String lostReason,
      Long cpuNs) {
    rows.row(SOURCES);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(source);
    rows.string(node);
    rows.string(provider);
    rows.int64(captured);
    rows.int64(lost);
    rows.string(lostReason);
    rows.nullableInt64(cpuNs);
  }

  public static void sstable(
      RowBuffer rows,
      long timeNs,
      String node,
      String keyspace,
      String tableName,
      String file,
      boolean live,
      Long writtenNs,
      Long level,
      Long diskBytes,
      Long dataBytes,
      Double compressionRatio,
      Long partitions,
      Long rowCount,
      Long cells,
      Long meanPartitionBytes,
      Long maxPartitionBytes,
      Double droppableRatio,
      Long minTimestampUs,
      Long maxTimestampUs,
      Long minTtlS,
      Long maxTtlS,
      Long repairedAtMs,
      String firstToken,
      String lastToken,
      String source) {
    rows.row(SSTABLES);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(keyspace);
    rows.string(tableName);
    rows.string(file);
    rows.bool(live);
    rows.nullableInt64(writtenNs);
    rows.nullableInt64(level);
    rows.nullableInt64(diskBytes);
    rows.nullableInt64(dataBytes);
    rows.nullableFloat64(compressionRatio);
    rows.nullableInt64(partitions);
    rows.nullableInt64(rowCount);
    rows.nullableInt64(cells);
    rows.nullableInt64(meanPartitionBytes);
    rows.nullableInt64(maxPartitionBytes);
    rows.nullableFloat64(droppableRatio);
    rows.nullableInt64(minTimestampUs);
    rows.nullableInt64(maxTimestampUs);
    rows.nullableInt64(minTtlS);
    rows.nullableInt64(maxTtlS);
    rows.nullableInt64(repairedAtMs);
    rows.nullableString(firstToken);
    rows.nullableString(lastToken);
    rows.string(source);
  }

  public static void stack(
      RowBuffer rows,
      long timeNs,
      long stack,
      String frames,
      String kinds) {
    rows.row(STACKS);
    rows.int64(timeNs);
    rows.int64(stack);
    rows.string(frames);
    rows.string(kinds);
  }

  public static void stall(
      RowBuffer rows,
      long startNs,
      long durationNs,
      String side,
      String node,
      String kind,
      Long runQueueNs,
      Long majorFaults,
      Long stealNs) {
    rows.row(STALLS);
    rows.int64(startNs);
    rows.int64(durationNs);
    rows.string(side);
    rows.string(node);
    rows.string(kind);
    rows.nullableInt64(runQueueNs);
    rows.nullableInt64(majorFaults);
    rows.nullableInt64(stealNs);
  }

  public static void syscallSummary(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String threadGroup,
      String call,
      String file,
      String fileKind,
      long lowNs,
      long highNs,
      long count,
      long totalNs,
      long bytes,
      long errors) {
    rows.row(SYSCALL_SUMMARY);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(threadGroup);
    rows.string(call);
    rows.string(file);
    rows.string(fileKind);
    rows.int64(lowNs);
    rows.int64(highNs);
    rows.int64(count);
    rows.int64(totalNs);
    rows.int64(bytes);
    rows.int64(errors);
  }

  public static void syscall(
      RowBuffer rows,
      long startNs,
      long durationNs,
      String node,
      long tid,
      String threadGroup,
      String call,
      String file,
      String fileKind,
      Long bytes,
      Long offsetBytes,
      String error) {
    rows.row(SYSCALLS);
    rows.int64(startNs);
    rows.int64(durationNs);
    rows.string(node);
    rows.int64(tid);
    rows.string(threadGroup);
    rows.string(call);
    rows.string(file);
    rows.string(fileKind);
    rows.nullableInt64(bytes);
    rows.nullableInt64(offsetBytes);
    rows.nullableString(error);
  }

  public static void tableFact(
      RowBuffer rows,
      long timeNs,
      String node,
      String keyspace,
      String tableName,
      String fact,
      String value,
      String source) {
    rows.row(TABLE_FACTS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(keyspace);
    rows.string(tableName);
    rows.string(fact);
    rows.string(value);
    rows.string(source);
  }

  public static void tableSample(
      RowBuffer rows,
      long timeNs,
      String node,
      String keyspace,
      String tableName,
      Long reads,
      Long writes,
      Long readTotalNs,
      Long writeTotalNs,
      Long sstables,
      Long liveDiskBytes,
      Long totalDiskBytes,
      Long memtableBytes,
      Long memtableSwitches,
      Long pendingFlushes,
      Long pendingCompactions,
      Long bytesFlushed,
      Long bytesCompacted,
      Double sstablesPerReadP95,
      Double tombstonesPerSliceP95,
      Double liveCellsPerSliceP95,
      Double droppableRatio,
      Double percentRepaired,
      Long coordinatorReads,
      Double coordinatorReadMeanNs,
      Long coordinatorWrites,
      Double coordinatorWriteMeanNs,
      Long meanPartitionBytes,
      Long maxPartitionBytes,
      Long largestSstableBytes,
      String sstablesByLevel,
      String sstablesByWindow,
      Double compressionRatio,
      Long bloomFalsePositives,
      Double bloomFalseRatio,
      Double keyCacheHitRate,
      Long rowCacheHits,
      Long rowCacheMisses,
      Long runningCompactions,
      Long compactingBytes,
      Long compactedBytes,
      Double tombstonesPerSliceP99,
      Double liveCellsPerSliceP99,
      Long largestSstableAgeS) {
    rows.row(TABLE_STATS);
    rows.int64(timeNs);
    rows.string(node);
    rows.string(keyspace);
    rows.string(tableName);
    rows.nullableInt64(reads);
    rows.nullableInt64(writes);
    rows.nullableInt64(readTotalNs);
    rows.nullableInt64(writeTotalNs);
    rows.nullableInt64(sstables);
    rows.nullableInt64(liveDiskBytes);
    rows.nullableInt64(totalDiskBytes);
    rows.nullableInt64(memtableBytes);
    rows.nullableInt64(memtableSwitches);
    rows.nullableInt64(pendingFlushes);
    rows.nullableInt64(pendingCompactions);
    rows.nullableInt64(bytesFlushed);
    rows.nullableInt64(bytesCompacted);
    rows.nullableFloat64(sstablesPerReadP95);
    rows.nullableFloat64(tombstonesPerSliceP95);
    rows.nullableFloat64(liveCellsPerSliceP95);
    rows.nullableFloat64(droppableRatio);
    rows.nullableFloat64(percentRepaired);
    rows.nullableInt64(coordinatorReads);
    rows.nullableFloat64(coordinatorReadMeanNs);
    rows.nullableInt64(coordinatorWrites);
    rows.nullableFloat64(coordinatorWriteMeanNs);
    rows.nullableInt64(meanPartitionBytes);
    rows.nullableInt64(maxPartitionBytes);
    rows.nullableInt64(largestSstableBytes);
    rows.nullableString(sstablesByLevel);
    rows.nullableString(sstablesByWindow);
    rows.nullableFloat64(compressionRatio);
    rows.nullableInt64(bloomFalsePositives);
    rows.nullableFloat64(bloomFalseRatio);
    rows.nullableFloat64(keyCacheHitRate);
    rows.nullableInt64(rowCacheHits);
    rows.nullableInt64(rowCacheMisses);
    rows.nullableInt64(runningCompactions);
    rows.nullableInt64(compactingBytes);
    rows.nullableInt64(compactedBytes);
    rows.nullableFloat64(tombstonesPerSliceP99);
    rows.nullableFloat64(liveCellsPerSliceP99);
    rows.nullableInt64(largestSstableAgeS);
  }

  public static void threadSample(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String process,
      long tid,
      String thread,
      String threadGroup,
      long cpuNs,
      Long runQueueNs,
      Long migrations,
      Long voluntarySwitches,
      Long involuntarySwitches) {
    rows.row(THREADS);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(process);
    rows.int64(tid);
    rows.string(thread);
    rows.string(threadGroup);
    rows.int64(cpuNs);
    rows.nullableInt64(runQueueNs);
    rows.nullableInt64(migrations);
    rows.nullableInt64(voluntarySwitches);
    rows.nullableInt64(involuntarySwitches);
  }

  public static void valveWindow(
      RowBuffer rows,
      long timeNs,
      long intervalNs,
      String node,
      String valve,
      String law,
      Long limit,
      Long nextLimit,
      double inFlight,
      double waiting,
      double elsewhere,
      long completed,
      long failed,
      long refused,
      long letThrough,
      long outOfOrder,
      double throughputPerS,
      Long meanNs,
      Long waitMeanNs,
      Long p50Ns,
      Long p99Ns,
      Long maxNs,
      double gcShare,
      boolean limited,
      String state,
      String reason) {
    rows.row(VALVES);
    rows.int64(timeNs);
    rows.int64(intervalNs);
    rows.string(node);
    rows.string(valve);
    rows.string(law);
    rows.nullableInt64(limit);
    rows.nullableInt64(nextLimit);
    rows.float64(inFlight);
    rows.float64(waiting);
    rows.float64(elsewhere);
    rows.int64(completed);
    rows.int64(failed);
    rows.int64(refused);
    rows.int64(letThrough);
    rows.int64(outOfOrder);
    rows.float64(throughputPerS);
    rows.nullableInt64(meanNs);
    rows.nullableInt64(waitMeanNs);
    rows.nullableInt64(p50Ns);
    rows.nullableInt64(p99Ns);
    rows.nullableInt64(maxNs);
    rows.float64(gcShare);
    rows.bool(limited);
    rows.string(state);
    rows.string(reason);
  }

  public static void wireRequest(
      RowBuffer rows,
      long startNs,
      long durationNs,
      long receivingNs,
      long sendingNs,
      String node,
      String client,
      long clientPort,
      long stream,
      Double weight,
      String opcode,
      String statement,
      String keyspace,
      String consistency,
      String serialConsistency,
      boolean furtherPage,
      Long pageSize,
      Long clientAheadNs,
      Long batchSize,
      Long token,
      Boolean toReplica,
      String answer,
      String error,
      Long rowsReturned,
      boolean morePages,
      boolean warned,
      boolean traced,
      boolean compressed,
      long requestBytes,
      long responseBytes) {
    rows.row(WIRE);
    rows.int64(startNs);
    rows.int64(durationNs);
    rows.int64(receivingNs);
    rows.int64(sendingNs);
    rows.string(node);
    rows.string(client);
    rows.int64(clientPort);
    rows.int64(stream);
    rows.nullableFloat64(weight);
    rows.string(opcode);
    rows.string(statement);
    rows.nullableString(keyspace);
    rows.nullableString(consistency);
    rows.nullableString(serialConsistency);
    rows.bool(furtherPage);
    rows.nullableInt64(pageSize);
    rows.nullableInt64(clientAheadNs);
    rows.nullableInt64(batchSize);
    rows.nullableInt64(token);
    rows.nullableBool(toReplica);
    rows.string(answer);
    rows.nullableString(error);
    rows.nullableInt64(rowsReturned);
    rows.bool(morePages);
    rows.bool(warned);
    rows.bool(traced);
    rows.bool(compressed);
    rows.int64(requestBytes);
    rows.int64(responseBytes);
  }
}
