/** Gestures on a picture: click, drag a point, pan, pinch and use the wheel. */
import type { Spot } from "./viewport.ts";

interface Gestures {
  /** `at` is the number of the point under the pointer, null beside all. */
  onClick: (at: number | null) => void;
  onDrag: (at: number, place: Spot) => void;
  onDrop: (at: number) => void;
  onMove: (x: number, y: number) => void;
  onZoom: (by: number, around: Spot) => void;
}

/** A pointer that moved less than this meant a click. */
const CLICK_PX = 4;

/** Points have their index in `data-at`. Returns a function that stops listening. */
export function listenToGestures(picture: SVGSVGElement, on: Gestures): () => void {
  const pointers = new Map<number, Spot>();
  let held: number | null = null;
  let moved = 0;

  const down = (event: PointerEvent) => {
    const at = (event.target as Element).getAttribute("data-at");
    pointers.set(event.pointerId, spotOf(event, picture));
    held = pointers.size === 1 && at !== null ? Number(at) : null;
    moved = 0;
    picture.setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = spotOf(event, picture);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    moved += distance(before, now);
    pointers.set(event.pointerId, now);
    if (other !== undefined) on.onZoom(distance(now, other) / Math.max(1, distance(before, other)), other);
    else if (moved < CLICK_PX) return;
    else if (held !== null) on.onDrag(held, now);
    else on.onMove(now.x - before.x, now.y - before.y);
  };
  const up = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved < CLICK_PX) on.onClick(held);
    else if (held !== null) on.onDrop(held);
    held = null;
  };
  const listening = new AbortController();
  const { signal } = listening;
  listenToWheel(picture, on.onZoom, signal);
  picture.addEventListener("pointerdown", down, { signal });
  picture.addEventListener("pointermove", drag, { signal });
  picture.addEventListener("pointerup", up, { signal });
  picture.addEventListener("pointercancel", up, { signal });
  return () => listening.abort();
}

/** The picture fills the window, so the wheel zooms; pinching a trackpad arrives as a wheel event with Ctrl. */
function listenToWheel(picture: SVGSVGElement, onZoom: Gestures["onZoom"], signal: AbortSignal): void {
  const turn = (event: WheelEvent) => {
    event.preventDefault();
    onZoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), spotOf(event, picture));
  };
  picture.addEventListener("wheel", turn, { passive: false, signal });
}

function spotOf(event: MouseEvent, picture: SVGSVGElement): Spot {
  const box = picture.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function distance(a: Spot, b: Spot): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
