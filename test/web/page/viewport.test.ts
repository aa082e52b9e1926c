import { describe, expect, it } from "vitest";
import { fitTo, move, zoomBy } from "../../../src/web/page/views/viewport.ts";

describe("looking at a plane", () => {
  it("keeps what is under the hand where it is when it zooms", () => {
    const before = { k: 1.5, x: 40, y: -20 };
    const after = zoomBy(before, 1.7, 200, 100);
    const under = (lens: typeof before) => [(200 - lens.x) / lens.k, (100 - lens.y) / lens.k];
    expect(under(after)[0]).toBeCloseTo(under(before)[0] as number);
    expect(under(after)[1]).toBeCloseTo(under(before)[1] as number);
  });

  it("zooms neither to nothing nor without end", () => {
    let [near, far] = [fitTo([], 100, 100), fitTo([], 100, 100)];
    for (let at = 0; at < 50; at++) [near, far] = [zoomBy(near, 2, 0, 0), zoomBy(far, 0.5, 0, 0)];
    expect(near.k).toBeLessThan(10);
    expect(far.k).toBeGreaterThan(0.1);
  });

  it("shows all points within the frame, and does not blow up a single one", () => {
    const points = [
      { x: -900, y: -10 },
      { x: 700, y: 300 },
      { x: 3, y: 4 },
    ];
    const lens = fitTo(points, 640, 480);
    for (const { x, y } of points) {
      expect(x * lens.k + lens.x).toBeGreaterThan(0);
      expect(x * lens.k + lens.x).toBeLessThan(640);
      expect(y * lens.k + lens.y).toBeGreaterThan(0);
      expect(y * lens.k + lens.y).toBeLessThan(480);
    }
    const single = fitTo([{ x: 5, y: 5 }], 640, 480);
    expect(single.k).toBeLessThan(3);
    expect(5 * single.k + single.x).toBeCloseTo(320);
  });

  it("moves", () => {
    expect(move({ k: 2, x: 1, y: 1 }, 3, -4)).toEqual({ k: 2, x: 4, y: -3 });
  });
});
