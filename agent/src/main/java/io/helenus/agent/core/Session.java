package io.helenus.agent.core;

import io.helenus.agent.control.ControlClient;
import io.helenus.agent.requests.Requests;
import io.helenus.agent.sources.Cassandra;
import io.helenus.agent.sources.ClientRequests;
import io.helenus.agent.sources.Definitions;
import io.helenus.agent.sources.Feed;
import io.helenus.agent.sources.Mbeans;
import io.helenus.agent.sources.NodeMetrics;
import io.helenus.agent.sources.PauseProvider;
import io.helenus.agent.sources.Pools;
import io.helenus.agent.sources.ProbeModel;
import io.helenus.agent.sources.SampledSource;
import io.helenus.agent.sources.Sampler;
import io.helenus.agent.sources.Source;
import io.helenus.agent.sources.StallDetector;
import io.helenus.agent.sources.TableStats;
import io.helenus.agent.sources.ThreadNames;
import io.helenus.agent.sources.ValveWindows;
import java.util.ArrayList;
import java.util.List;

/** The sources of one recorder, from start until everything is undone. */
final class Session {
  private static final long SAMPLER_STOP_MS = 2_000;

  private final Start start;
  private final Outbox outbox;
  private final Log log;
  private final boolean withoutLog;
  private final ControlClient control;
  private final List<Feed> feeds = new ArrayList<>();
  private final List<Source> sources = new ArrayList<>();
  private Feed own;
  private Sampler sampler;

  Session(Start start, Outbox outbox, Log log, boolean withoutLog, ControlClient control) {
    this.start = start;
    this.outbox = outbox;
    this.log = log;
    this.withoutLog = withoutLog;
    this.control = control;
  }

  void start() {
    // Reports the part of the agent's overhead that belongs to no source.
    own = feed("agent", "agent-sender");
    own.worker(outbox.sender());
    List<SampledSource> sampled = new ArrayList<>();
    for (String name : start.sources) {
      try {
        start(name, sampled);
      } catch (Throwable e) {
        log.line(name + " cannot be observed: " + e);
      }
    }
    sampler =
        new Sampler(
            start.intervalMs, sampled, feeds, (frame, rows) -> outbox.offer(frame), log::line);
    sampler.start();
  }

  private void start(String name, List<SampledSource> sampled) throws Exception {
    switch (name) {
      case "pauses":
        Source pauses = PauseProvider.start(withoutLog, this::pauses, log::line);
        sources.add(pauses);
        if (pauses instanceof SampledSource) {
          sampled.add((SampledSource) pauses);
        }
        if (!Mbeans.areRemote()) {
          // Not the feed of the pauses, because a thread of the JVM may be writing its rows.
          sampled.add(new ThreadNames(own));
        }
        break;
      case "stalls":
        StallDetector watcher =
            new StallDetector(feed("stalls", "agent-watcher"), start.stallBoundMs);
        watcher.start();
        sources.add(watcher);
        break;
      case "pools":
        sampled.add(new Pools(feed("pools", "agent-mbeans")));
        break;
      case "tables":
        sampled.add(new TableStats(feed("tables", "agent-mbeans")));
        break;
      case "node_metrics":
        sampled.add(new NodeMetrics(feed("node_metrics", "agent-mbeans")));
        break;
      case "definitions":
        sampled.add(new Definitions(feed("definitions", "agent-queries")));
        break;
      case "probes":
        sampled.add(new ProbeModel(feed("probes", "agent-probes"), control::ask));
        break;
      case "valves":
        sampled.add(new ValveWindows(feed("valves", "agent-valves"), control::ask));
        break;
      case "requests":
        ClassLoader server = Cassandra.loader();
        if (server == null) {
          throw new IllegalStateException("there is no Cassandra in this JVM");
        }
        Requests requests = new Requests(feed("wire", "jvm"), server, log::line);
        requests.start();
        sources.add(requests);
        break;
      case "client_requests":
        sampled.add(new ClientRequests(feed("client_requests", "agent-mbeans")));
        break;
      default:
        log.line(
            "there is no source "
                + name
                + "; there are pauses, pools, tables, stalls, client_requests, node_metrics,"
                + " definitions, probes, valves, requests");
    }
  }

  private Feed pauses(String provider) {
    return feed("pauses", provider);
  }

  private Feed feed(String source, String provider) {
    String how = Mbeans.areRemote() ? "jmx" : provider;
    Feed feed = new Feed(source, how, start.node, start.epochOffsetNs, outbox::offer);
    feeds.add(feed);
    return feed;
  }

  /**
   * Undoes all that start did.
   *
   * @param drain whether the recorder still listens
   */
  void stop(boolean drain) {
    try {
      sampler.stop(SAMPLER_STOP_MS);
    } catch (Throwable e) {
      log.line("the sampler did not stop well: " + e);
    }
    for (Source source : sources) {
      try {
        source.stop(drain);
      } catch (Throwable e) {
        log.line(source.feed().source() + " did not stop well: " + e);
      }
    }
    sampler.report();
  }
}
