package io.helenus.agent.valves;

import io.helenus.agent.points.Refusal;
import java.util.Arrays;
import java.util.function.Consumer;

/** Enforces a limit by a stage's own setting, such as the size of its pool. */
final class StageEnforcement implements Enforcement {
  private final Stage stage;
  private final int[] original;
  private final Consumer<String> log;
  private int[] set;

  StageEnforcement(Stage stage, Consumer<String> log) {
    this.stage = stage;
    this.log = log;
    original = stage.read();
    set = original;
  }

  @Override
  public synchronized void limit(int limit) {
    int[] values = original;
    if (limit != Gate.OPEN) {
      values = new int[original.length];
      Arrays.fill(values, limit);
    }
    if (!Arrays.equals(values, set)) {
      stage.write(values);
      set = values;
    }
  }

  @Override
  public void policy(Settings settings) {
    if (settings.refuse) {
      throw new Refusal("a stage refuses nobody", "leave out refuse");
    }
  }

  @Override
  public int inside() {
    return (int) stage.active();
  }

  @Override
  public int waiting() {
    return (int) stage.pending();
  }

  @Override
  public int elsewhere() {
    return 0;
  }

  @Override
  public ValveTotals read() {
    return new ValveTotals(stage.completed());
  }

  @Override
  public long left() {
    return stage.completed();
  }

  @Override
  public synchronized void remove() {
    if (Arrays.equals(stage.read(), set)) {
      stage.write(original);
    } else {
      // An operator's change takes precedence.
      log.accept("the stage " + stage + " was set by somebody else meanwhile and stays so");
    }
  }
}
