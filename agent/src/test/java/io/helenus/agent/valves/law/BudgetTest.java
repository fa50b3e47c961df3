package io.helenus.agent.valves.law;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Limits of the budget of a search. */
class BudgetTest {
  private final Budget budget = new Budget();

  @Test
  void whatWasLostAwayIsPaidOnTheWhole() {
    budget.spend(1, 0.5);
    budget.spend(-1, 0.4);
    budget.settle();
    assertTrue(budget.allows(Budget.FIRST_S - 0.11));
    assertFalse(budget.allows(Budget.FIRST_S - 0.09));
    budget.pass(0.2 / Budget.SHARE, 0);
    assertTrue(budget.allows(Budget.FIRST_S), "it grows with time");
  }

  @Test
  void aChangeTooSoonAfterAnotherIsGrantedLater() {
    budget.grant(10);
    loseAll();
    budget.grant(10);
    budget.pass(29, 0);
    assertFalse(budget.allows(Budget.FIRST_S));
    budget.pass(1, 0);
    assertTrue(budget.allows(Budget.FIRST_S));
    loseAll();
    budget.pass(31, 0);
    assertFalse(budget.allows(Budget.FIRST_S), "once");
  }

  @Test
  void whenManyMoreAreThereItIsGrantedAtOnce() {
    budget.grant(10);
    loseAll();
    budget.grant(16);
    assertTrue(budget.allows(Budget.FIRST_S));
  }

  private void loseAll() {
    budget.spend(1, Budget.FIRST_S);
    budget.settle();
  }
}
