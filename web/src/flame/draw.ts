import { type Placed, share } from "./tree";

export const ROW = 18;
const NARROWEST = 0.3;
/** A row whose nodes are all narrower is not drawn. */
const WORTH_A_ROW = 1;

export interface View {
  placed: Placed[];
  /** The frame that fills the width. */
  root: Placed;
  width: number;
  height: number;
  /** Whether the root is at the top. */
  icicle: boolean;
  dark: boolean;
  matches: ((text: string) => boolean) | null;
  hovered: Placed | null;
  compared: boolean;
}

/** Depths that are drawn, from all to the deepest node that can be seen. */
export function depths({ placed, root, width }: Pick<View, "placed" | "root" | "width">): number {
  let deepest = root.depth;
  for (let index = root.index; index < root.end; index++) {
    const node = placed[index] as Placed;
    if (share(node.weight, root.weight) * width >= WORTH_A_ROW) deepest = Math.max(deepest, node.depth);
  }
  return deepest + 1;
}

export function rowOf(view: View, depth: number): number {
  return view.icicle ? depth * ROW : view.height - (depth + 1) * ROW;
}

export function draw(context: CanvasRenderingContext2D, view: View): void {
  const { placed, root, width, height } = view;
  context.clearRect(0, 0, width, height);
  context.font = "11px ui-monospace, Menlo, Consolas, monospace";
  context.textBaseline = "middle";
  const character = context.measureText("m").width;
  const totals = { own: placed[0]?.weight ?? 0, other: placed[0]?.other ?? 0 };
  const box = (node: Placed, x: number, w: number) => {
    const y = rowOf(view, node.depth);
    const faded = node.depth < root.depth || (view.matches !== null && !view.matches(node.text));
    context.globalAlpha = faded ? 0.35 : 1;
    context.fillStyle = view.compared
      ? difference(share(node.weight, totals.own) - share(node.other, totals.other), view.dark)
      : colour(node.kind, node.text, view.dark);
    context.fillRect(x, y, Math.max(w - 0.5, 0.3), ROW - 1);
    if (node === view.hovered) {
      context.globalAlpha = 1;
      context.strokeStyle = view.dark ? "#fff" : "#000";
      context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.5, 0.5), ROW - 2);
    }
    const room = Math.floor((w - 6) / character);
    if (room >= 3) {
      context.globalAlpha = faded ? 0.5 : 1;
      context.fillStyle = view.dark ? "#f2f2f2" : "#111";
      context.fillText(shortened(node.text, room), x + 3, y + ROW / 2);
    }
  };
  for (let above = root.parent; above >= 0; above = (placed[above] as Placed).parent)
    box(placed[above] as Placed, 0, width);
  const scale = root.weight > 0 ? width / root.weight : 0;
  for (let index = root.index; index < root.end; ) {
    const node = placed[index] as Placed;
    const w = node.weight * scale;
    if (w < NARROWEST || rowOf(view, node.depth) < 0 || rowOf(view, node.depth) >= height) {
      // The callees of this frame are even narrower.
      index = node.end;
      continue;
    }
    box(node, (node.start - root.start) * scale, w);
    index++;
  }
  context.globalAlpha = 1;
}

/** The node at a point. */
export function nodeAt(view: View, x: number, y: number): Placed | null {
  const row = Math.floor(y / ROW);
  const depth = view.icicle ? row : Math.round(view.height / ROW) - 1 - row;
  const { placed, root, width } = view;
  if (depth < root.depth) {
    let above = root.parent;
    while (above >= 0 && (placed[above] as Placed).depth > depth) above = (placed[above] as Placed).parent;
    return placed[above] ?? null;
  }
  const at = root.start + (x / width) * root.weight;
  for (let index = root.index; index < root.end; ) {
    const node = placed[index] as Placed;
    if (at < node.start || at >= node.start + node.weight) index = node.end;
    else if (node.depth === depth) return node;
    else index++;
  }
  return null;
}

/** Cut names at the start: their end is more specific. */
function shortened(text: string, room: number): string {
  return text.length <= room ? text : `…${text.slice(text.length - room + 1)}`;
}

const KINDS: Record<string, [number, number]> = {
  j: [130, 42],
  l: [130, 42],
  1: [130, 42],
  i: [130, 42],
  c: [48, 70],
  k: [26, 78],
  n: [2, 62],
  g: [215, 38],
  a: [215, 10],
};

/** The colour of a frame by its kind, with a shade by its name, so that neighbours differ. */
export function colour(kind: string, text: string, dark: boolean): string {
  let sum = 7;
  for (let place = 0; place < text.length; place++) sum = (sum * 31 + text.charCodeAt(place)) >>> 0;
  const [hue, saturation] = KINDS[kind] ?? [0, 0];
  return `hsl(${hue} ${saturation}% ${(dark ? 24 : 66) + (sum % 14)}%)`;
}

/** The colour in a comparison: red for more weight than on the other side, blue for less. */
function difference(more: number, dark: boolean): string {
  const strength = Math.sqrt(Math.min(Math.abs(more) * 10, 1));
  const light = dark ? 22 + 22 * strength : 92 - 28 * strength;
  return `hsl(${more >= 0 ? 4 : 215} ${80 * strength}% ${light}%)`;
}
