package io.helenus.agent.sources;

/** A source that is read at every interval, by the {@link Sampler}. */
public interface Sample {
  /** What is read goes here. */
  Feed feed();

  /** Reads it now and writes its rows, unflushed. */
  void read() throws Exception;
}
