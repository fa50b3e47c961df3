import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

export type Scheme = "light" | "dark";

/** Each has the same page in other colours. */
export const SCHEMES: Scheme[] = ["light", "dark"];

/**
 * The serious and critical problems that axe finds in a page, or in the part of it that a selector names. The light
 * scheme is checked for all of them, the dark one for its contrasts.
 */
export async function seriousProblems(page: Page, scheme: Scheme, within?: string): Promise<string[]> {
  let axe = new AxeBuilder({ page });
  if (scheme === "dark") axe = axe.withRules("color-contrast");
  if (within) axe = axe.include(within);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
}
