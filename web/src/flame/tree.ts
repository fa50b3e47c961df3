import type { FlameTree } from "../model";

/** A node with its position: the distance from the root's left edge, in weight. */
export interface Placed {
  index: number;
  depth: number;
  text: string;
  kind: string;
  weight: number;
  other: number;
  start: number;
  parent: number;
  /** Index after the last descendant. */
  end: number;
  /** Own weight, without callees. */
  self: number;
}

/** A share from 0 to 1; 0 if the whole is 0. */
export function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Computes each node's position, parent and own weight. */
export function place(data: FlameTree): Placed[] {
  const placed: Placed[] = [];
  const open: Placed[] = [];
  /** Position of the next child of each open node. */
  const next: number[] = [];
  const { nodes, names } = data;
  nodes.depth.forEach((depth, index) => {
    const weight = nodes.weight[index] ?? 0;
    while (open.length > depth) {
      const closed = open.pop();
      if (closed) closed.end = index;
    }
    next.length = open.length + 1;
    const parent = open.at(-1);
    const start = parent ? (next[depth] ?? parent.start) : 0;
    next[depth] = start + weight;
    next[depth + 1] = start;
    const own: Placed = {
      index,
      depth,
      text: names[nodes.name[index] ?? -1] ?? "",
      kind: nodes.kind.charAt(index),
      weight,
      other: nodes.other[index] ?? 0,
      start,
      parent: parent?.index ?? -1,
      end: nodes.depth.length,
      self: weight,
    };
    if (parent) parent.self -= weight;
    placed.push(own);
    open.push(own);
  });
  return placed;
}

/** Matches names that contain the text, in upper or lower case. */
export function matcher(search: string): ((text: string) => boolean) | null {
  const wanted = search.trim().toLowerCase();
  return wanted === "" ? null : (text) => text.toLowerCase().includes(wanted);
}

/** The weight under the nodes that match, without counting one below another twice. */
export function matchedWeight(placed: Placed[], matches: (text: string) => boolean): number {
  let weight = 0;
  for (let index = 0; index < placed.length; ) {
    const node = placed[index] as Placed;
    if (node.depth > 0 && matches(node.text)) {
      weight += node.weight;
      index = node.end;
    } else index++;
  }
  return weight;
}

export interface Hot {
  text: string;
  kind: string;
  self: number;
  total: number;
}

/** Frames by their own weight, the heaviest first, from all callers. A frame that calls itself counts once in total. */
export function hottest(placed: Placed[], count: number): Hot[] {
  const frames = new Map<string, Hot>();
  const within: string[] = [];
  for (const node of placed) {
    within.length = node.depth;
    const nested = within.includes(node.text);
    within[node.depth] = node.text;
    if (node.depth < 2) continue;
    const known = frames.get(node.text) ?? { text: node.text, kind: node.kind, self: 0, total: 0 };
    known.self += node.self;
    if (!nested) known.total += node.weight;
    frames.set(node.text, known);
  }
  return [...frames.values()].sort((a, b) => b.self - a.self).slice(0, count);
}
