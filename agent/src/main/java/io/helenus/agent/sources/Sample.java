package io.helenus.agent.sources;

/** A source that is read at every interval, by the {@link Sampler}. */
public abstract class Sample {
  /** What is read goes here. */
  final Feed feed;

  Sample(Feed feed) {
    this.feed = feed;
  }

  /** Reads it now and writes its rows, unflushed. */
  abstract void read() throws Exception;
}
