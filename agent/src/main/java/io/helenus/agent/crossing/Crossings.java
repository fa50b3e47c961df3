package io.helenus.agent.crossing;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The agent's end of the bridge: leads a thread that enters or leaves a woven method to the site of
 * that number, and keeps for each thread which ones it is in.
 */
public final class Crossings {
  private final Travellers travellers = new Travellers();
  private final ThreadGroups groups = new ThreadGroups();
  private final Map<Integer, Predicate<Object>> guards = new ConcurrentHashMap<>();
  private volatile Site[] sites = new Site[0];
  private int next;

  /** A number for a new site. Numbers are never reused, so a late exit cannot hit another site. */
  public synchronized int number() {
    int number = next;
    next += 2;
    return number;
  }

  /** The same for a site that needs to know when a thread leaves. */
  public int timedNumber() {
    return number() + 1;
  }

  /**
   * Whether the clock is to be read when a thread leaves. The number tells, since it is a constant
   * of the woven code: with nothing to be looked up the clock can be read at once, and all that is
   * done after it is in nobody's time.
   */
  static boolean isTimed(int number) {
    return (number & 1) != 0;
  }

  /**
   * Puts a site behind a number, or takes it away.
   *
   * @param guard selects calls by the object that the site passes; null for all
   */
  public synchronized void site(int number, Site site, Predicate<Object> guard) {
    Site[] next = Arrays.copyOf(sites, Math.max(sites.length, number + 1));
    next[number] = site;
    if (guard == null) {
      guards.remove(number);
    } else {
      guards.put(number, guard);
    }
    sites = next;
  }

  public ThreadGroups groups() {
    return groups;
  }

  /** To be done now and then. */
  public void forgetEndedThreads() {
    travellers.forgetEnded();
  }

  /** Whether a call is meant; see {@link #site}. */
  public boolean wanted(Object about, Integer number) {
    Predicate<Object> guard = guards.get(number);
    return guard == null || guard.test(about);
  }

  /** A thread enters; see {@link io.helenus.agent.Hook#hold}. */
  public RuntimeException enter(int code) {
    Traveller traveller = travellers.current();
    if (traveller == null) {
      return null;
    }
    if (code < 0) {
      traveller.push(~code, null);
      return null;
    }
    Site[] sites = this.sites;
    Site site = code < sites.length ? sites[code] : null;
    Frame frame = traveller.push(code, site);
    if (frame == null || site == null) {
      return null;
    }
    RuntimeException refusal = site.enter(traveller, frame);
    if (refusal != null) {
      // A method that refuses the call is never left.
      traveller.refused();
    }
    return refusal;
  }

  /** A thread leaves; see {@link io.helenus.agent.Hook#hold}. */
  public void exit(int code) {
    boolean failed = code < 0;
    int number = failed ? ~code : code;
    long nowNs = isTimed(number) ? System.nanoTime() : 0;
    Traveller traveller = travellers.known();
    if (traveller != null) {
      traveller.leave(number, failed, nowNs);
    }
  }
}
