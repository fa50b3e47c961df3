package io.helenus.agent.valves;

import io.helenus.agent.crossing.Crossings;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A gate woven into points. */
final class GateEnforcement implements Enforcement {
  /** As long as no stage is known it is looked for once a second or so. */
  private static final int LOOKED_FOR_ONE_IN = 100;

  private final Crossings crossings;
  private final Weaving weaving;
  private final Precedence precedence;
  private final int place;
  private final List<Point> points;
  private final Gate gate;
  private final Map<Integer, Point> woven = new LinkedHashMap<>();

  /** The stage whose threads pass; null as long as that is not known, and where there is none. */
  private Stage stage;

  private int looks;

  /**
   * @param points in the order of the line's weights
   */
  GateEnforcement(
      Crossings crossings,
      Weaving weaving,
      Precedence precedence,
      List<Point> points,
      Settings settings,
      WaitingLine line) {
    this.crossings = crossings;
    this.weaving = weaving;
    this.precedence = precedence;
    place = precedence.take();
    if (place < 0) {
      throw new Refusal("there are " + Precedence.MOST + " valves already", "remove one first");
    }
    this.points = points;
    try {
      gate = new Gate(precedence, place, termsOf(settings), line);
    } catch (RuntimeException e) {
      precedence.giveBack(place);
      throw e;
    }
    for (int i = 0; i < points.size(); i++) {
      int number = crossings.number();
      crossings.site(number, gate.site(number, i), points.get(i).guard);
      woven.put(number, points.get(i));
    }
    try {
      weaving.change(woven, List.of());
    } catch (RuntimeException e) {
      forget();
      throw e;
    }
  }

  @Override
  public void terms(Settings settings) {
    gate.terms(termsOf(settings));
  }

  private Gate.Terms termsOf(Settings settings) {
    if (!settings.refuse) {
      return new Gate.Terms(settings.maxWaitNs, null);
    }
    for (Point point : points) {
      if (!point.mayRefuse) {
        throw new Refusal(
            "a request can't be refused at " + point.name,
            "leave out refuse, or choose a point of the preset that is marked so");
      }
    }
    try {
      Overloaded overloaded = new Overloaded();
      String why = "the valve " + settings.name + " has no room";
      return new Gate.Terms(settings.maxWaitNs, () -> overloaded.make(why));
    } catch (ReflectiveOperationException e) {
      throw new Refusal("this server has no exception to refuse with: " + e, "leave out refuse");
    }
  }

  @Override
  public void limit(int limit) {
    gate.limit(limit);
  }

  @Override
  public int inside() {
    return gate.inside();
  }

  @Override
  public int waiting() {
    return gate.waiting();
  }

  /**
   * Those who are queued for a thread, or whose thread is at something else. A limit turns them
   * into those who wait at the gate, so that without them it would seem to make requests wait that
   * waited before.
   */
  @Override
  public int elsewhere() {
    if (stage == null && looks++ % LOOKED_FOR_ONE_IN == 0) {
      stage = gate.stage();
    }
    if (stage == null) {
      return 0;
    }
    try {
      long all = stage.active() + stage.pending();
      return (int) Math.max(0, all - gate.inside() - gate.waiting());
    } catch (Refusal e) {
      stage = null;
      return 0;
    }
  }

  @Override
  public Reading read() {
    return new Reading(gate.read());
  }

  @Override
  public long passed() {
    return gate.passed();
  }

  @Override
  public void remove() {
    gate.limit(Gate.OPEN);
    try {
      weaving.change(Map.of(), List.copyOf(woven.keySet()));
    } finally {
      forget();
    }
  }

  private void forget() {
    woven.keySet().forEach(number -> crossings.site(number, null, null));
    precedence.giveBack(place);
  }
}
