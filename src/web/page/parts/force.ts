/** Where the memories stand on the map: what is tied draws near, everything else keeps apart. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationNodeDatum,
} from "d3-force";

export interface Point extends SimulationNodeDatum {
  x: number;
  y: number;
  radius: number;
  /** How many it is tied to. */
  ties: number;
}

export interface Tie {
  source: Point;
  target: Point;
  /** 0…1: how strongly. */
  share: number;
}

export interface Settling {
  /** Holds a point where the hand is; null lets it go. */
  hold: (point: number, at: { x: number; y: number } | null) => void;
  stop: () => void;
}

/** Done before the first picture, so that it does not begin as an explosion. */
const TICKS_BEFORE = 80;
/** From here on nothing moves by more than a pixel. */
const TICKS_TO_REST = 260;

export interface Manner {
  /** Settles at once, for those who want no motion. */
  isStill: boolean;
  /** The points stand where they stood before: they are only nudged. */
  isAgain: boolean;
}

export function settle(points: Point[], ties: Tie[], { isStill, isAgain }: Manner, onTick: () => void): Settling {
  const simulation: Simulation<Point, Tie> = forceSimulation(points)
    .force(
      "apart",
      forceManyBody<Point>()
        .strength(({ ties }) => (ties === 0 ? -50 : -130))
        .distanceMax(500)
        .theta(1),
    )
    .force(
      "ties",
      forceLink<Point, Tie>(ties)
        .distance(({ share }) => 36 + (1 - share) * 70)
        .strength(({ share }) => 0.15 + share * 0.35),
    )
    .force(
      "collide",
      forceCollide<Point>().radius(({ radius }) => radius + 2),
    )
    // A little more across than down: screens are wide. What nothing holds would drift out of sight.
    .force(
      "x",
      forceX<Point>().strength(({ ties }) => (ties === 0 ? 0.1 : 0.045)),
    )
    .force(
      "y",
      forceY<Point>().strength(({ ties }) => (ties === 0 ? 0.15 : 0.075)),
    )
    .stop();
  if (isAgain) simulation.alpha(0.2);
  simulation.tick(isStill ? TICKS_TO_REST : isAgain ? 1 : TICKS_BEFORE);
  onTick();
  if (!isStill) simulation.alpha(Math.min(simulation.alpha(), 0.3)).on("tick", onTick).restart();
  return {
    hold: (number, at) => {
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

/** A point's first place: a spiral, so that no two begin on the same spot and the map looks alike every time. */
export function placeOnSpiral(at: number): { x: number; y: number } {
  const angle = at * 2.399963;
  const radius = 9 * Math.sqrt(at + 0.5);
  return { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius };
}
