/** Distance of a tip from the pointer. */
const BESIDE_PX = 14;

/** Places a tip beside a point, to the left if there is more room, within its container. */
export function placeTip(tip: HTMLElement, at: { x: number; y: number }, width: number): void {
  const own = tip.offsetWidth;
  const right = at.x + BESIDE_PX;
  const x = right + own <= width ? right : at.x - BESIDE_PX - own;
  tip.style.transform = `translate(${Math.max(0, Math.min(x, width - own))}px, ${at.y}px)`;
}
