package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Law;
import java.util.Map;

/** Makes a law by its name and parameters. */
@FunctionalInterface
public interface LawMaker {
  /**
   * @throws IllegalArgumentException naming what is wrong and what there is
   */
  Law make(String name, Map<String, String> parameters, int min, int max);
}
