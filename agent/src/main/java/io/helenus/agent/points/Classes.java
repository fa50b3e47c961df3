package io.helenus.agent.points;

import java.util.List;
import java.util.Map;

/** A set of classes in which a pattern is looked up. */
interface Classes {
  /**
   * The methods that can be woven of each matching class, by the class's name.
   *
   * @throws Refusal when there is none, with the nearest names
   */
  Map<String, List<Method>> of(Pattern pattern);
}
