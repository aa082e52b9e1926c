/** Which part of a picture is visible: moved, zoomed, or all of it. */

export interface Spot {
  x: number;
  y: number;
}

export interface Viewport {
  k: number;
  x: number;
  y: number;
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
