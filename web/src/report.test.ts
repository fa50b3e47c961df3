import { describe, expect, it } from "vitest";
import { readReport } from "./report";

describe("the report in the page", () => {
  it("is read when its format is known", () => {
    expect(readReport('{"format":1,"title":"x"}').title).toBe("x");
  });
  it.each([
    ["", "empty template"],
    ["/*PLACEHOLDER*/", "empty template"],
    ['{"format":1,"ti', "make the report again"],
    ['{"format":2}', "format 2"],
  ])("says what is wrong with %j", (text, sentence) => {
    expect(() => readReport(text)).toThrow(sentence);
  });
});
