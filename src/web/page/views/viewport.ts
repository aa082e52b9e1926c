/** Which part of a picture is visible: moved, zoomed, or all of it; and the gestures on it. */
import type { TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useRef, useState } from "preact/hooks";

export interface Spot {
  x: number;
  y: number;
}

export interface Viewport extends Spot {
  k: number;
}

const LEAST = 0.15;
const MOST = 6;
/** Between the outermost points and the edge, for their names. */
const MARGIN_PX = 40;

export function move(viewport: Viewport, x: number, y: number): Viewport {
  return { ...viewport, x: viewport.x + x, y: viewport.y + y };
}

/** What is at (x, y) on the screen stays there. */
export function zoomBy(viewport: Viewport, by: number, x: number, y: number): Viewport {
  const k = Math.min(MOST, Math.max(LEAST, viewport.k * by));
  const real = k / viewport.k;
  return { k, x: x - (x - viewport.x) * real, y: y - (y - viewport.y) * real };
}

/** So that all points are visible; a few are not blown up. */
export function fitTo(points: Spot[], width: number, height: number): Viewport {
  if (points.length === 0 || width === 0 || height === 0) return { k: 1, x: width / 2, y: height / 2 };
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const across = (width - MARGIN_PX * 2) / Math.max(1, right - left);
  const down = (height - MARGIN_PX * 2) / Math.max(1, bottom - top);
  const k = Math.min(2.2, Math.max(LEAST, Math.min(across, down)));
  return { k, x: width / 2 - ((left + right) / 2) * k, y: height / 2 - ((top + bottom) / 2) * k };
}

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

type Press = TargetedPointerEvent<SVGSVGElement>;

/** What a picture listens to, whose points have their index in `data-at`. */
export function useGestures(on: Gestures) {
  const [pointers] = useState(() => new Map<number, Spot>());
  const pressed = useRef({ at: null as number | null, moved: 0 });
  const onPointerUp = (event: Press) => {
    const { at, moved } = pressed.current;
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved < CLICK_PX) on.onClick(at);
    else if (at !== null) on.onDrop(at);
    pressed.current.at = null;
  };
  return {
    onPointerDown(event: Press) {
      const at = (event.target as Element).getAttribute("data-at");
      pointers.set(event.pointerId, spotOf(event));
      pressed.current = { at: pointers.size === 1 && at !== null ? Number(at) : null, moved: 0 };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: Press) {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const now = spotOf(event);
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      pressed.current.moved += distance(before, now);
      const { at, moved } = pressed.current;
      pointers.set(event.pointerId, now);
      if (other !== undefined) on.onZoom(distance(now, other) / Math.max(1, distance(before, other)), other);
      else if (moved < CLICK_PX) return;
      else if (at !== null) on.onDrag(at, now);
      else on.onMove(now.x - before.x, now.y - before.y);
    },
    onPointerUp,
    onPointerCancel: onPointerUp,
    /** The picture fills the window, so the wheel zooms; pinching a trackpad arrives as a wheel event with Ctrl. */
    onWheel(event: TargetedWheelEvent<SVGSVGElement>) {
      event.preventDefault();
      on.onZoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), spotOf(event));
    },
  };
}

function spotOf({ currentTarget, clientX, clientY }: Press | TargetedWheelEvent<SVGSVGElement>): Spot {
  const { left, top } = currentTarget.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

function distance(a: Spot, b: Spot): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
