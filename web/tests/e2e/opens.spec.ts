import { expect, test } from "@playwright/test";
import { pageOf } from "../sample/pages";

test("opens", async ({ page }) => {
  await page.goto(pageOf("overload"));
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});
