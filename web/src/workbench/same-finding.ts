import type { Finding } from "../model";

/**
 * Another window's finding of the same thing. Its title may have other figures, and be that of a minor cause.
 */
export function sameFinding(findings: readonly Finding[], wanted: Finding): Finding | undefined {
  const alike = findings.filter(
    ({ finding, node, title }) =>
      finding === wanted.finding &&
      node === wanted.node &&
      withoutFigures(title) === withoutFigures(wanted.title),
  );
  return alike.find(({ title }) => title === wanted.title) ?? alike[0];
}

function withoutFigures(title: string): string {
  return title.replace(/^Minor: /, "").replaceAll(/\d[\d.,]*/g, "#");
}
