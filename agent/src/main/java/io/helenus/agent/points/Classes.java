package io.helenus.agent.points;

import java.util.List;
import java.util.Map;

/** Where the classes that a pattern means are looked for. */
interface Classes {
  /**
   * The methods that can be woven of each class that is meant, by the class's name.
   *
   * @throws Refusal when there is none, with the nearest names
   */
  Map<String, List<Method>> of(Pattern pattern);
}
