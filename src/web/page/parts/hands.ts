/** What hands do on a picture: click, drag a thing, move the whole, pinch and turn the wheel. */

export interface Touched {
  /** `at` is the number of the thing under the hand, null beside all. */
  onClick: (at: number | null) => void;
  onDrag: (at: number, place: Place) => void;
  onDrop: (at: number) => void;
  onMove: (x: number, y: number) => void;
  onZoom: (by: number, around: Place) => void;
}

export interface Place {
  x: number;
  y: number;
}

/** A hand that moved less than this meant a click. */
const CLICK_PX = 4;

/** Things carry their number as `data-at`. Returns what stops the listening. */
export function listenToHands(picture: SVGSVGElement, touched: Touched): () => void {
  const hands = new Map<number, Place>();
  let held: number | null = null;
  let moved = 0;
  const stopWheel = listenToWheel(picture, touched.onZoom);

  const down = (event: PointerEvent) => {
    const at = (event.target as Element).getAttribute("data-at");
    hands.set(event.pointerId, placeOf(event, picture));
    held = hands.size === 1 && at !== null ? Number(at) : null;
    moved = 0;
    picture.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    const before = hands.get(event.pointerId);
    if (before === undefined) return;
    const now = placeOf(event, picture);
    const other = [...hands].find(([id]) => id !== event.pointerId)?.[1];
    moved += distance(before, now);
    hands.set(event.pointerId, now);
    if (other !== undefined) touched.onZoom(distance(now, other) / Math.max(1, distance(before, other)), other);
    else if (moved < CLICK_PX) return;
    else if (held !== null) touched.onDrag(held, now);
    else touched.onMove(now.x - before.x, now.y - before.y);
  };
  const up = (event: PointerEvent) => {
    if (!hands.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved < CLICK_PX) touched.onClick(held);
    else if (held !== null) touched.onDrop(held);
    held = null;
  };
  picture.addEventListener("pointerdown", down);
  picture.addEventListener("pointermove", move);
  picture.addEventListener("pointerup", up);
  picture.addEventListener("pointercancel", up);
  return () => {
    stopWheel();
    picture.removeEventListener("pointerdown", down);
    picture.removeEventListener("pointermove", move);
    picture.removeEventListener("pointerup", up);
    picture.removeEventListener("pointercancel", up);
  };
}

/** The page scrolls over the picture until somebody has pressed it; pinching a trackpad comes as a wheel with Ctrl. */
function listenToWheel(picture: SVGSVGElement, onZoom: Touched["onZoom"]): () => void {
  let isAwake = false;
  const wake = () => {
    isAwake = true;
  };
  const sleep = () => {
    isAwake = false;
  };
  const turn = (event: WheelEvent) => {
    if (!isAwake && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    onZoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), placeOf(event, picture));
  };
  picture.addEventListener("pointerdown", wake);
  picture.addEventListener("pointerleave", sleep);
  picture.addEventListener("wheel", turn, { passive: false });
  return () => {
    picture.removeEventListener("pointerdown", wake);
    picture.removeEventListener("pointerleave", sleep);
    picture.removeEventListener("wheel", turn);
  };
}

function placeOf(event: MouseEvent, picture: SVGSVGElement): Place {
  const box = picture.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
