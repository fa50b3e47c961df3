import type { Report } from "./model";

export const FORMAT = 1;

/** Why there is no report to show, in a sentence for the user. */
export class UnreadableReport extends Error {}

/** Reads the JSON that the binary wrote into the page. Throws UnreadableReport. */
export function readReport(text: string): Report {
  if (text.trim() === "" || text.startsWith("/*")) {
    throw new UnreadableReport(
      "This is the empty template of a report. Make one with: helenus report RECORDING -o report.html",
    );
  }
  let parsed: { format?: unknown };
  try {
    parsed = JSON.parse(text) as { format?: unknown };
  } catch (cause) {
    throw new UnreadableReport(
      `The figures in this file cannot be read (${String(cause)}). The file may be cut off; make the report again.`,
    );
  }
  if (parsed.format !== FORMAT) {
    throw new UnreadableReport(
      `This report is of format ${String(parsed.format)}, and this page reads format ${FORMAT}. Make the report again with one version of helenus.`,
    );
  }
  return parsed as Report;
}
