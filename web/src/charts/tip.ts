/** Between the pointer and what tells more about the place under it. */
const BESIDE_PX = 14;

/** Puts a tip beside a point, left of it where there is more room, and never out of what it lies in. */
export function placeTip(tip: HTMLElement, at: { x: number; y: number }, width: number): void {
  const own = tip.offsetWidth;
  const right = at.x + BESIDE_PX;
  const x = right + own <= width ? right : at.x - BESIDE_PX - own;
  tip.style.transform = `translate(${Math.max(0, Math.min(x, width - own))}px, ${at.y}px)`;
}
