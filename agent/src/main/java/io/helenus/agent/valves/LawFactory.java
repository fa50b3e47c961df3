package io.helenus.agent.valves;

import io.helenus.agent.valves.law.Law;
import java.util.Map;

/** Makes a law by its name and parameters. */
@FunctionalInterface
public interface LawFactory {
  /**
   * @throws IllegalArgumentException naming the error and the allowed names or values
   */
  Law make(String name, Map<String, String> parameters, int min, int max);
}
