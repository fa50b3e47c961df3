package io.helenus.agent.valves;

import io.helenus.agent.dispatch.Dispatcher;
import io.helenus.agent.points.Point;
import io.helenus.agent.points.Refusal;
import io.helenus.agent.points.Weaving;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A gate woven into points. */
final class GateEnforcement implements Enforcement {
  /** While the stage is unknown, one of this many ticks tries to find it: about once a second. */
  private static final int TICKS_PER_SEARCH = 100;

  private final Dispatcher dispatcher;
  private final Weaving weaving;
  private final GateOrder gateOrder;
  private final int slot;
  private final List<Point> points;
  private final Gate gate;
  private final Map<Integer, Point> woven = new LinkedHashMap<>();

  /** The stage whose threads pass the gate; null if unknown, or if there is none. */
  private Stage stage;

  private int ticks;

  /**
   * @param points in the order of the queue's weights
   */
  GateEnforcement(
      Dispatcher dispatcher,
      Weaving weaving,
      GateOrder gateOrder,
      List<Point> points,
      Settings settings,
      WaitQueue queue) {
    this.dispatcher = dispatcher;
    this.weaving = weaving;
    this.gateOrder = gateOrder;
    slot = gateOrder.allocate();
    if (slot < 0) {
      throw new Refusal("there are " + GateOrder.MOST + " valves already", "remove one first");
    }
    this.points = points;
    try {
      gate = new Gate(gateOrder, slot, policyOf(settings), queue);
    } catch (RuntimeException e) {
      gateOrder.free(slot);
      throw e;
    }
    for (int i = 0; i < points.size(); i++) {
      int number = dispatcher.number();
      dispatcher.register(number, gate.interceptor(number, i), points.get(i).guard);
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
  public void policy(Settings settings) {
    gate.policy(policyOf(settings));
  }

  private Gate.OverflowPolicy policyOf(Settings settings) {
    if (!settings.refuse) {
      return new Gate.OverflowPolicy(settings.maxWaitNs, null);
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
      return new Gate.OverflowPolicy(settings.maxWaitNs, () -> overloaded.make(why));
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
   * Requests of the stage that are queued for a thread, or whose thread is outside the gate. A
   * limit moves queued requests from the stage's queue to the gate. Without this number a limit
   * would seem to add waiting time.
   */
  @Override
  public int elsewhere() {
    if (stage == null && ticks++ % TICKS_PER_SEARCH == 0) {
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
  public ValveTotals read() {
    return new ValveTotals(gate.read());
  }

  @Override
  public long left() {
    return gate.left();
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
    woven.keySet().forEach(number -> dispatcher.unregister(number));
    gateOrder.free(slot);
  }
}
