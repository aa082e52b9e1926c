/** The map as a picture: points and ties that move under the hand, with zoom. The view's list says the same in words. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { Button } from "./button.tsx";
import { type Point, placeOnSpiral, type Settling, settle } from "./force.ts";
import { listenToHands } from "./hands.ts";
import { fitTo, type Lens, moveLens, zoomLens } from "./lens.ts";

export type EdgeKind = MemoryMap["edges"][number]["kind"];

interface Props {
  map: MemoryMap;
  edges: MemoryMap["edges"];
  chosen: number | null;
  onChoose: (node: number | null) => void;
}

const EDGE_KINDS: EdgeKind[] = ["near", "link", "supersedes"];
/** More names than this cover one another. */
const MOST_NAMES = 14;
/** A letter of a name on the screen, about; measuring each would cost more than it is worth. */
const NAME_PX = { width: 6.6, height: 15 };

export function MapPicture({ map, edges, chosen, onChoose }: Props): VNode {
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const picture = useMemo(makePicture, []);
  const ties = useMemo(() => tiesOf(map.nodes.length, edges), [map, edges]);
  useEffect(() => {
    if (svg.current === null || world.current === null) return;
    return picture.show(svg.current, world.current, map, edges);
  }, [map, edges]);
  useEffect(() => (svg.current === null ? undefined : picture.listen(svg.current, onChoose)), [onChoose]);
  useEffect(() => picture.redraw(), [chosen, map, edges]);
  const near = chosen === null ? null : ties[chosen];
  const named = namesShown(map, ties, chosen);
  return (
    <div class="map-frame">
      <svg
        ref={svg}
        class="map"
        role="img"
        aria-label={`${map.nodes.length} memories and ${edges.length} ties between them; the list says the same in words`}
      >
        <g ref={world}>
          <g class="map-edges">
            {EDGE_KINDS.map((kind) => (
              <path key={kind} data-kind={kind} class={`edge edge-${kind}${chosen === null ? "" : " is-faded"}`} />
            ))}
            <path data-kind="chosen" class="edge edge-chosen" data-chosen={chosen ?? ""} />
          </g>
          <g class="map-points">
            {map.nodes.map((node, at) => (
              <circle
                key={`${node.directory}/${node.file}`}
                data-at={at}
                r={radiusOf(ties[at]?.size ?? 0, map.nodes.length)}
                class={`point type-fill-${node.type}${at === chosen ? " is-chosen" : near && !near.has(at) ? " is-faded" : ""}`}
              >
                <title>{node.name}</title>
              </circle>
            ))}
          </g>
          <g class="map-names">
            {named.map((at) => (
              <text key={at} data-at={at} class={at === chosen ? "is-chosen" : undefined}>
                {shorten(map.nodes[at]?.name ?? "")}
              </text>
            ))}
          </g>
        </g>
      </svg>
      <div class="map-tools">
        <Button isSmall label="Zoom in" onClick={() => picture.zoom(1.4)}>
          +
        </Button>
        <Button isSmall label="Zoom out" onClick={() => picture.zoom(1 / 1.4)}>
          −
        </Button>
        <Button isSmall label="Fit all of the map" onClick={() => picture.fit()}>
          Fit
        </Button>
      </div>
    </div>
  );
}

/** Everything that changes many times a second goes past the components, straight to the elements. */
function makePicture() {
  let points: Point[] = [];
  let edges: MemoryMap["edges"] = [];
  let settling: Settling | null = null;
  let lens: Lens = { k: 1, x: 0, y: 0 };
  let isFitted = true;
  let svg: SVGSVGElement | null = null;
  let world: SVGGElement | null = null;
  const known = new Map<string, Point>();

  const redraw = () => {
    if (svg === null || world === null) return;
    if (isFitted) lens = fitTo(points, svg.clientWidth, svg.clientHeight);
    world.setAttribute("transform", `translate(${lens.x.toFixed(1)} ${lens.y.toFixed(1)}) scale(${lens.k.toFixed(3)})`);
    world.style.setProperty("--k", String(lens.k));
    for (const path of world.querySelectorAll<SVGPathElement>("path"))
      path.setAttribute("d", lineOf(path, points, edges));
    for (const circle of world.querySelectorAll<SVGCircleElement>("circle")) {
      const point = points[Number(circle.dataset.at)];
      if (point === undefined) continue;
      circle.setAttribute("cx", point.x.toFixed(1));
      circle.setAttribute("cy", point.y.toFixed(1));
    }
    // On the names alone: set on all, it would have every point styled anew.
    world.querySelector<SVGGElement>(".map-names")?.style.setProperty("--k", lens.k.toFixed(3));
    placeNames(world.querySelectorAll<SVGTextElement>("text"), points, lens, svg.clientWidth);
  };
  const change = (next: Lens) => {
    isFitted = false;
    lens = next;
    redraw();
  };

  return {
    redraw,
    /** Points that were there before begin where they stood. */
    show(shown: SVGSVGElement, inside: SVGGElement, map: MemoryMap, tied: MemoryMap["edges"]) {
      [svg, world, edges] = [shown, inside, tied];
      const isAgain = known.size > 0;
      const counts = tiesOf(map.nodes.length, tied);
      points = map.nodes.map((node, at) => {
        const key = `${node.directory}/${node.file}`;
        const { x, y } = known.get(key) ?? placeOnSpiral(at);
        const count = counts[at]?.size ?? 0;
        const point = { x, y, ties: count, radius: radiusOf(count, map.nodes.length) };
        known.set(key, point);
        return point;
      });
      const ties = tied.flatMap(({ a, b, kind, share }) => {
        const [source, target] = [points[a], points[b]];
        return source && target ? [{ source, target, share: kind === "near" ? share : 1 }] : [];
      });
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
      settling = settle(points, ties, { isStill, isAgain }, redraw);
      const sizing = new ResizeObserver(redraw);
      sizing.observe(shown);
      return () => {
        settling?.stop();
        sizing.disconnect();
      };
    },
    zoom(by: number) {
      if (svg !== null) change(zoomLens(lens, by, svg.clientWidth / 2, svg.clientHeight / 2));
    },
    fit() {
      isFitted = true;
      redraw();
    },
    listen(shown: SVGSVGElement, onChoose: (node: number | null) => void) {
      return listenToHands(shown, {
        onClick: onChoose,
        onDrag: (at, place) => settling?.hold(at, { x: (place.x - lens.x) / lens.k, y: (place.y - lens.y) / lens.k }),
        onDrop: (at) => settling?.hold(at, null),
        onMove: (x, y) => change(moveLens(lens, x, y)),
        onZoom: (by, { x, y }) => change(zoomLens(lens, by, x, y)),
      });
    },
  };
}

/** Above their points; one that would cover another is left out, the first come first. */
function placeNames(names: Iterable<SVGTextElement>, points: Point[], lens: Lens, width: number): void {
  const { k } = lens;
  const taken: { x: number; y: number; half: number }[] = [];
  for (const text of names) {
    const point = points[Number(text.dataset.at)];
    if (point === undefined) continue;
    const half = ((text.textContent?.length ?? 0) * NAME_PX.width) / 2 / k;
    const y = point.y - point.radius - 5 / k;
    // A name at the edge moves in, as long as its point is in sight.
    const x = Math.min(Math.max(point.x, half - lens.x / k), (width - lens.x) / k - half);
    const isFree = taken.every(
      (other) => Math.abs(other.y - y) > NAME_PX.height / k || Math.abs(other.x - x) > other.half + half,
    );
    text.setAttribute("visibility", isFree ? "visible" : "hidden");
    if (!isFree) continue;
    taken.push({ x, y, half });
    text.setAttribute("x", x.toFixed(1));
    text.setAttribute("y", y.toFixed(1));
  }
}

/** All ties of a kind are one path: a thousand lines cost what one does. */
function lineOf(path: SVGPathElement, points: Point[], edges: MemoryMap["edges"]): string {
  const { kind, chosen } = path.dataset;
  if (kind === "chosen" && chosen === "") return "";
  const at = Number(chosen);
  const drawn = edges.filter((edge) => (kind === "chosen" ? edge.a === at || edge.b === at : edge.kind === kind));
  return drawn
    .map(({ a, b }) => {
      const [from, to] = [points[a], points[b]];
      return from && to ? `M${from.x.toFixed(1)} ${from.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}` : "";
    })
    .join("");
}

function tiesOf(count: number, edges: MemoryMap["edges"]): Set<number>[] {
  const ties = Array.from({ length: count }, () => new Set<number>());
  for (const { a, b } of edges) {
    ties[a]?.add(b);
    ties[b]?.add(a);
  }
  return ties;
}

function namesShown(map: MemoryMap, ties: Set<number>[], chosen: number | null): number[] {
  if (chosen !== null) return [chosen, ...[...(ties[chosen] ?? [])].slice(0, MOST_NAMES)];
  const all = map.nodes.map((_, at) => at);
  return all.sort((a, b) => (ties[b]?.size ?? 0) - (ties[a]?.size ?? 0)).slice(0, MOST_NAMES);
}

/** Of many each is drawn larger: the whole is seen from further away. */
function radiusOf(ties: number, count: number): number {
  return (4 + Math.min(6, Math.sqrt(ties) * 1.5)) * Math.max(1, Math.sqrt(count / 100));
}

function shorten(name: string): string {
  return name.length > 28 ? `${[...name].slice(0, 27).join("")}…` : name;
}
