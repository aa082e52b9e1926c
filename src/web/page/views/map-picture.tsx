/**
 * The map as a picture: points and lines that can be dragged, panned and zoomed. The view's list has the same content
 * as text.
 */
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { VNode } from "preact";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { Button } from "../parts/basics.tsx";
import { keyOf } from "../parts/format.ts";
import { fitTo, move, type Spot, useGestures, type Viewport, zoomBy } from "./viewport.ts";

export type Node = MemoryMap["nodes"][number];
export type Choose = (node: Node | undefined) => void;

interface Props {
  map: MemoryMap;
  edges: MemoryMap["edges"];
  chosen: Node | undefined;
  /** What a search found: the others are faded; null while nothing is searched for. */
  found: readonly Node[] | null;
  onChoose: Choose;
}

const EDGE_KINDS = ["near", "link", "supersedes"];
/** Those with the most connections; the further in, the more of them fit. */
const MOST_NAMES = 150;
/** A letter of a name on the screen, about; measuring each would cost more than it is worth. */
const NAME_PX = { width: 6.6, height: 15 };

export function MapPicture({ map, edges, chosen: node, found, onChoose }: Props): VNode {
  const { nodes } = map;
  const chosen = node === undefined ? null : nodes.indexOf(node);
  const svg = useRef<SVGSVGElement>(null);
  const linked = useMemo(() => neighbours(nodes.length, edges), [map, edges]);
  const [, redraw] = useReducer((frames: number) => frames + 1, 0);
  /** Points that were there before begin where they were. */
  const known = useRef(new Map<string, Spot>());
  const { points, hold, start } = useMemo(() => settle(nodes, edges, linked, known.current), [map, edges]);
  useEffect(() => start(() => redraw(0)), [points]);
  /** Null shows all of it. */
  const [moved, setMoved] = useState<Viewport | null>(null);
  const [width, height] = [svg.current?.clientWidth ?? 0, svg.current?.clientHeight ?? 0];
  const viewport = moved ?? fitTo(points, width, height);
  const { k, x, y } = viewport;
  const change = (by: (from: Viewport) => Viewport) => setMoved((now) => by(now ?? viewport));
  const gestures = useGestures({
    onClick: (at) => onChoose(nodes[at ?? -1]),
    onDrag: (at, place) => hold(at, { x: (place.x - x) / k, y: (place.y - y) / k }),
    onDrop: (at) => hold(at, null),
    onMove: (right, down) => change((from) => move(from, right, down)),
    onZoom: (by, around) => change((from) => zoomBy(from, by, around.x, around.y)),
  });
  useEffect(() => {
    const sizing = new ResizeObserver(() => redraw(0));
    if (svg.current !== null) sizing.observe(svg.current);
    return () => sizing.disconnect();
  }, []);
  const zoom = (by: number) => change((from) => zoomBy(from, by, width / 2, height / 2));
  const near = chosen === null ? null : linked[chosen];
  const matching = useMemo(() => found && new Set(found.map((each) => nodes.indexOf(each))), [map, found]);
  const isFaded = (at: number) => (near ? !near.has(at) : matching !== null && !matching.has(at));
  // Set on the names alone: on the whole picture it would restyle every point.
  const scale = { "--k": k.toFixed(3) };
  return (
    <div class="map-frame">
      <svg
        ref={svg}
        {...gestures}
        class="map card"
        role="img"
        aria-label={`${nodes.length} memories and ${edges.length} connections; the list has the same content as text`}
      >
        <g transform={`translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${k.toFixed(3)})`}>
          <g class="map-edges">
            {EDGE_KINDS.map((kind) => (
              <path
                key={kind}
                class={`edge edge-${kind}${chosen === null ? "" : " is-faded"}`}
                d={drawEdges(points, edges, (edge) => edge.kind === kind)}
              />
            ))}
            <path class="edge edge-chosen" d={drawEdges(points, edges, ({ a, b }) => a === chosen || b === chosen)} />
          </g>
          <g class="map-points">
            {points.map((point, at) => (
              <circle
                key={point.key}
                data-at={at}
                cx={point.x.toFixed(1)}
                cy={point.y.toFixed(1)}
                r={point.radius}
                class={`point type-${nodes[at]?.type}${at === chosen ? " is-chosen" : isFaded(at) ? " is-faded" : matching ? " is-found" : ""}`}
              >
                <title>{nodes[at]?.name}</title>
              </circle>
            ))}
          </g>
          <g class="map-clusters" style={scale}>
            {map.clusters.map((name, cluster) =>
              name === "" ? null : (
                <text key={name} {...placeCluster(points, cluster)} class={near || matching ? "is-faded" : undefined}>
                  {name}
                </text>
              ),
            )}
          </g>
          <g class="map-names" style={scale}>
            {placeNames(namesShown(linked, chosen, matching), nodes, points, viewport, width).map(
              ({ at, name, x, y }) => (
                <text key={at} x={x.toFixed(1)} y={y.toFixed(1)} class={at === chosen ? "is-chosen" : undefined}>
                  {name}
                </text>
              ),
            )}
          </g>
        </g>
      </svg>
      <div class="map-tools row" style={{ inset: "0.5rem 0.5rem auto auto" }}>
        <Button isSmall text="+" aria-label="Zoom in" onClick={() => zoom(1.4)} />
        <Button isSmall text="−" aria-label="Zoom out" onClick={() => zoom(1 / 1.4)} />
        <Button isSmall text="Fit" aria-label="Fit all of the map" onClick={() => setMoved(null)} />
      </div>
    </div>
  );
}

/** In the middle of its members, above the topmost. */
function placeCluster(points: Point[], cluster: number): { x: string; y: string } {
  const members = points.filter((point) => point.cluster === cluster);
  const top = Math.min(...members.map(({ y, radius }) => y - radius));
  const middle = members.reduce((sum, { x }) => sum + x, 0) / members.length;
  return { x: middle.toFixed(1), y: (top - 10).toFixed(1) };
}

/** Where each cluster gathers: the largest in the middle, the others around it with room for their members. */
function placeHomes(nodes: MemoryMap["nodes"]): Spot[] {
  const sizes: number[] = [];
  for (const { cluster } of nodes) sizes[cluster] = (sizes[cluster] ?? 0) + 1;
  let area = 0;
  return sizes.map((size, at) => {
    // At the radius of a disc that holds all before it.
    const radius = at === 0 ? 0 : 34 * Math.sqrt(area + size / 2);
    area += size + 2;
    return spiral(at, { x: 0, y: 0 }, radius, 1.3);
  });
}

/** The next place by the golden angle. */
function spiral(at: number, { x, y }: Spot, radius: number, width = 1): Spot {
  const angle = at * 2.399963;
  return { x: x + Math.cos(angle) * radius * width, y: y + Math.sin(angle) * radius };
}

/** Above their points; a name that would cover an earlier one is left out. */
function placeNames(ats: number[], nodes: Node[], points: Point[], { k, x: left }: Viewport, width: number) {
  const placed: (Spot & { at: number; name: string; half: number })[] = [];
  for (const at of ats) {
    const [point, node] = [points[at], nodes[at]];
    if (point === undefined || node === undefined) continue;
    const name = shorten(node.name);
    const half = (name.length * NAME_PX.width) / 2 / k;
    const y = point.y - point.radius - 5 / k;
    // A name at the edge moves inwards, as long as its point is visible.
    const x = Math.min(Math.max(point.x, half - left / k), (width - left) / k - half);
    const isFree = placed.every(
      (other) => Math.abs(other.y - y) > NAME_PX.height / k || Math.abs(other.x - x) > other.half + half,
    );
    if (isFree) placed.push({ at, name, x, y, half });
  }
  return placed;
}

/** All edges of a kind are one path: a thousand lines cost as much as one. */
function drawEdges(
  points: Point[],
  edges: MemoryMap["edges"],
  isDrawn: (edge: MemoryMap["edges"][0]) => boolean,
): string {
  const lines = edges.filter(isDrawn).map(({ a, b }) => {
    const [from, to] = [points[a], points[b]];
    return from && to ? `M${from.x.toFixed(1)} ${from.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}` : "";
  });
  return lines.join("");
}

function neighbours(count: number, edges: MemoryMap["edges"]): Set<number>[] {
  const linked = Array.from({ length: count }, () => new Set<number>());
  for (const { a, b } of edges) {
    linked[a]?.add(b);
    linked[b]?.add(a);
  }
  return linked;
}

function namesShown(linked: Set<number>[], chosen: number | null, found: ReadonlySet<number> | null): number[] {
  if (chosen !== null) return [chosen, ...[...(linked[chosen] ?? [])].slice(0, MOST_NAMES)];
  const all = found === null ? linked.map((_, at) => at) : [...found];
  return all.sort((a, b) => (linked[b]?.size ?? 0) - (linked[a]?.size ?? 0)).slice(0, MOST_NAMES);
}

/** Each of many is drawn larger: the whole is seen from further away. */
function radiusOf(degree: number, count: number): number {
  return (4 + Math.min(6, Math.sqrt(degree) * 1.5)) * Math.max(1, Math.sqrt(count / 100));
}

function shorten(name: string): string {
  return name.length > 28 ? `${[...name].slice(0, 27).join("")}…` : name;
}

interface Point extends Spot {
  key: string;
  /** Where it is held. */
  fx?: number | null;
  fy?: number | null;
  radius: number;
  cluster: number;
  /** Where its cluster gathers. */
  home: Spot;
}

interface Link {
  source: Point;
  target: Point;
  /** 0…1: how strongly. */
  share: number;
}

/** Runs before the first frame, so that it does not start as an explosion. */
const TICKS_BEFORE = 80;
/** From here on nothing moves by more than a pixel. */
const TICKS_TO_REST = 260;

/** Finds places for the points; those that have theirs already are only nudged. For those who want no motion it settles at once. */
function settle(nodes: Node[], edges: MemoryMap["edges"], linked: Set<number>[], known: Map<string, Spot>) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const isAgain = known.size > 0;
  const homes = placeHomes(nodes);
  const points = nodes.map((node, at): Point => {
    const key = keyOf(node);
    const home = homes[node.cluster] ?? { x: 0, y: 0 };
    // Around its home, no two on the same spot, and in the same place every time.
    const { x, y } = known.get(key) ?? spiral(at, home, 2.25 * Math.sqrt(at + 0.5));
    const point = { key, x, y, home, cluster: node.cluster, radius: radiusOf(linked[at]?.size ?? 0, nodes.length) };
    known.set(key, point);
    return point;
  });
  const links = edges.flatMap(({ a, b, kind, share }) => {
    const [source, target] = [points[a], points[b]];
    return source && target ? [{ source, target, share: kind === "near" ? share : 1 }] : [];
  });
  const apart = forceManyBody<Point>().strength(-90).distanceMax(300).theta(1);
  const joined = forceLink<Point, Link>(links).distance(({ share }) => 36 + (1 - share) * 70);
  const simulation = forceSimulation(points)
    .force("apart", apart)
    .force(
      "links",
      joined.strength(({ share }) => 0.15 + share * 0.35),
    )
    .force(
      "collide",
      forceCollide<Point>(({ radius }) => radius + 2),
    )
    .force("x", forceX<Point>(({ home }) => home.x).strength(0.12))
    .force("y", forceY<Point>(({ home }) => home.y).strength(0.12))
    .stop();
  if (isAgain) simulation.alpha(0.2);
  simulation.tick(isStill ? TICKS_TO_REST : isAgain ? 1 : TICKS_BEFORE);
  return {
    points,
    /** Returns what ends it. */
    start(onTick: () => void) {
      onTick();
      simulation.on("tick", onTick);
      if (!isStill) simulation.alpha(Math.min(simulation.alpha(), 0.3)).restart();
      return () => void simulation.stop();
    },
    /** Holds a point under the pointer; null lets it go. */
    hold(number: number, at: Spot | null) {
      const point = points[number];
      if (point === undefined) return;
      Object.assign(point, { fx: at?.x ?? null, fy: at?.y ?? null });
      if (!isStill) return void simulation.alphaTarget(at === null ? 0 : 0.2).restart();
      Object.assign(point, at);
      simulation.on("tick")?.call(simulation);
    },
  };
}
