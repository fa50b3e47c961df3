import type { Page } from "@playwright/test";

/** Elements that reach over the right edge of the page. Elements within a box that scrolls or clips are left out. */
export function beyondTheEdge(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const contained = (element: Element): boolean => {
      for (let around = element.parentElement; around; around = around.parentElement) {
        if (
          getComputedStyle(around).overflowX !== "visible" &&
          around.getBoundingClientRect().right <= width + 1
        )
          return true;
      }
      return false;
    };
    const beyond = [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > width + 1 && !contained(element))
      .map((element) => element.outerHTML.slice(0, 100));
    if (document.documentElement.scrollWidth > width)
      beyond.unshift(`the page is ${document.documentElement.scrollWidth} wide`);
    return beyond.slice(0, 5);
  });
}
