/**
 * The map as a picture: points and lines that can be dragged, panned and zoomed. The view's list has the same content
 * as text.
 */
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { Button } from "../parts/basics.tsx";
import { keyOf } from "../parts/format.ts";
import { fitTo, listenToGestures, move, type Spot, type Viewport, zoomBy } from "./viewport.ts";

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
  const chosen = node === undefined ? null : map.nodes.indexOf(node);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const picture = useMemo(makePicture, []);
  const linked = useMemo(() => neighbours(map.nodes.length, edges), [map, edges]);
  useEffect(() => {
    if (svg.current === null || world.current === null) return;
    const onClick = (at: number | null) => choose.current(map.nodes[at ?? -1]);
    return picture.show(svg.current, world.current, map.nodes, edges, linked, onClick);
  }, [map, edges]);
  const near = chosen === null ? null : linked[chosen];
  const matching = useMemo(() => found && new Set(found.map((each) => map.nodes.indexOf(each))), [map, found]);
  const named = namesShown(linked, chosen, matching);
  const isFaded = (at: number) => (near ? !near.has(at) : matching !== null && !matching.has(at));
  useEffect(() => picture.redraw(), [chosen, map, edges, matching]);
  return (
    <div class="map-frame">
      <svg
        ref={svg}
        class="map card"
        role="img"
        aria-label={`${map.nodes.length} memories and ${edges.length} connections; the list has the same content as text`}
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
                key={keyOf(node)}
                data-at={at}
                r={radiusOf(linked[at]?.size ?? 0, map.nodes.length)}
                class={`point type-${node.type}${at === chosen ? " is-chosen" : isFaded(at) ? " is-faded" : matching ? " is-found" : ""}`}
              >
                <title>{node.name}</title>
              </circle>
            ))}
          </g>
          <g class="map-clusters">
            {map.clusters.map((name, cluster) =>
              name === "" ? null : (
                <text key={name} data-cluster={cluster} class={near || matching ? "is-faded" : undefined}>
                  {name}
                </text>
              ),
            )}
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
      <div class="map-tools row">
        <Button isSmall text="+" aria-label="Zoom in" onClick={() => picture.zoom(1.4)} />
        <Button isSmall text="−" aria-label="Zoom out" onClick={() => picture.zoom(1 / 1.4)} />
        <Button isSmall text="Fit" aria-label="Fit all of the map" onClick={picture.fit} />
      </div>
    </div>
  );
}

/** Everything that changes many times a second bypasses the components and goes straight to the elements. */
function makePicture() {
  let points: Point[] = [];
  let edges: MemoryMap["edges"] = [];
  let settling: ReturnType<typeof settle> | null = null;
  let viewport: Viewport = { k: 1, x: 0, y: 0 };
  let isFitted = true;
  let svg: SVGSVGElement | null = null;
  let world: SVGGElement | null = null;
  const known = new Map<string, Point>();

  const redraw = () => {
    if (svg === null || world === null) return;
    if (isFitted) viewport = fitTo(points, svg.clientWidth, svg.clientHeight);
    const { k, x, y } = viewport;
    world.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${k.toFixed(3)})`);
    for (const path of world.querySelectorAll<SVGPathElement>("path"))
      path.setAttribute("d", lineOf(path, points, edges));
    for (const circle of world.querySelectorAll<SVGCircleElement>("circle")) {
      const point = points[Number(circle.dataset.at)];
      if (point === undefined) continue;
      circle.setAttribute("cx", point.x.toFixed(1));
      circle.setAttribute("cy", point.y.toFixed(1));
    }
    // Set on the names alone: on the whole picture it would restyle every point.
    for (const group of world.querySelectorAll<SVGGElement>(".map-names, .map-clusters"))
      group.style.setProperty("--k", k.toFixed(3));
    placeClusters(world.querySelectorAll<SVGTextElement>("[data-cluster]"), points);
    placeNames(world.querySelectorAll<SVGTextElement>(".map-names text"), points, viewport, svg.clientWidth);
  };
  const change = (next: Viewport) => {
    isFitted = false;
    viewport = next;
    redraw();
  };

  return {
    redraw,
    /** Points that were there before begin where they were. */
    show(
      shown: SVGSVGElement,
      inside: SVGGElement,
      nodes: MemoryMap["nodes"],
      joined: MemoryMap["edges"],
      linked: Set<number>[],
      onClick: (at: number | null) => void,
    ) {
      [svg, world, edges] = [shown, inside, joined];
      const stopListening = listenToGestures(shown, {
        onClick,
        onDrag: (at, { x, y }) =>
          settling?.hold(at, { x: (x - viewport.x) / viewport.k, y: (y - viewport.y) / viewport.k }),
        onDrop: (at) => settling?.hold(at, null),
        onMove: (x, y) => change(move(viewport, x, y)),
        onZoom: (by, { x, y }) => change(zoomBy(viewport, by, x, y)),
      });
      const isAgain = known.size > 0;
      const homes = placeHomes(nodes);
      points = nodes.map((node, at) => {
        const key = keyOf(node);
        const home = homes[node.cluster] ?? { x: 0, y: 0 };
        // Around its home, no two on the same spot, and in the same place every time.
        const { x, y } = known.get(key) ?? spiral(at, home, 2.25 * Math.sqrt(at + 0.5));
        const degree = linked[at]?.size ?? 0;
        const point = { x, y, degree, home, cluster: node.cluster, radius: radiusOf(degree, nodes.length) };
        known.set(key, point);
        return point;
      });
      const links = joined.flatMap(({ a, b, kind, share }) => {
        const [source, target] = [points[a], points[b]];
        return source && target ? [{ source, target, share: kind === "near" ? share : 1 }] : [];
      });
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
      settling = settle(points, links, isStill, isAgain, redraw);
      const sizing = new ResizeObserver(redraw);
      sizing.observe(shown);
      return () => {
        stopListening();
        settling?.stop();
        sizing.disconnect();
      };
    },
    zoom(by: number) {
      if (svg !== null) change(zoomBy(viewport, by, svg.clientWidth / 2, svg.clientHeight / 2));
    },
    fit() {
      isFitted = true;
      redraw();
    },
  };
}

/** In the middle of their members, above the topmost. */
function placeClusters(names: Iterable<SVGTextElement>, points: Point[]): void {
  for (const text of names) {
    const members = points.filter(({ cluster }) => cluster === Number(text.dataset.cluster));
    if (members.length === 0) continue;
    const top = Math.min(...members.map(({ y, radius }) => y - radius));
    const middle = members.reduce((sum, { x }) => sum + x, 0) / members.length;
    text.setAttribute("x", middle.toFixed(1));
    text.setAttribute("y", (top - 10).toFixed(1));
  }
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
function placeNames(names: Iterable<SVGTextElement>, points: Point[], viewport: Viewport, width: number): void {
  const { k } = viewport;
  const taken: { x: number; y: number; half: number }[] = [];
  for (const text of names) {
    const point = points[Number(text.dataset.at)];
    if (point === undefined) continue;
    const half = ((text.textContent?.length ?? 0) * NAME_PX.width) / 2 / k;
    const y = point.y - point.radius - 5 / k;
    // A name at the edge moves inwards, as long as its point is visible.
    const x = Math.min(Math.max(point.x, half - viewport.x / k), (width - viewport.x) / k - half);
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

/** All edges of a kind are one path: a thousand lines cost as much as one. */
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
  /** Where it is held. */
  fx?: number | null;
  fy?: number | null;
  radius: number;
  /** How many others it is linked to. */
  degree: number;
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

/** `isStill` settles at once, for those who want no motion; `isAgain` only nudges points that have their place already. */
function settle(points: Point[], links: Link[], isStill: boolean, isAgain: boolean, onTick: () => void) {
  const apart = forceManyBody<Point>().strength(-90);
  const joined = forceLink<Point, Link>(links).distance(({ share }) => 36 + (1 - share) * 70);
  const simulation = forceSimulation(points)
    .force("apart", apart.distanceMax(300).theta(1))
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
  onTick();
  if (!isStill) simulation.alpha(Math.min(simulation.alpha(), 0.3)).on("tick", onTick).restart();
  return {
    /** Holds a point under the pointer; null lets it go. */
    hold: (number: number, at: Spot | null) => {
      const point = points[number];
      if (point === undefined) return;
      point.fx = at?.x ?? null;
      point.fy = at?.y ?? null;
      if (isStill) {
        if (at !== null) Object.assign(point, at);
        onTick();
      } else simulation.alphaTarget(at === null ? 0 : 0.2).restart();
    },
    stop: () => simulation.stop(),
  };
}
