/** The map: memories by link and by meaning, as a picture and as a list, and pairs that say nearly the same. */
import type { VNode } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { MemoryMap, MemoryTitle } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Button, formatMemoryRoute, LinkButton, LinkRow, MemoryLink, Tag, TypeTag } from "../parts/basics.tsx";
import { formatCount, keyOf } from "../parts/format.ts";
import { useFirst } from "../parts/hooks.ts";
import { Empty, Heading, PageHead, Section, Tabs, Waiting } from "../parts/layout.tsx";
import { MergeDialog } from "../parts/merge.tsx";
import { amend } from "../router.ts";
import { type EdgeKind, MapPicture } from "./map-picture.tsx";

/** Positions in the map's nodes. */
interface Pair {
  a: number;
  b: number;
}

const KINDS: { kind: EdgeKind; title: string }[] = [
  { kind: "link", title: "Links" },
  { kind: "near", title: "Meaning" },
  { kind: "supersedes", title: "Supersedes" },
];

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<MemoryMap>("/api/map");
  return (
    <>
      <PageHead title="Map" lead="Memories that are linked or mean nearly the same are close together." />
      {live.value === null ? (
        <Waiting live={live} />
      ) : live.value.nodes.length === 0 ? (
        <Empty title="There is nothing to map yet">
          <p>Memories appear here as points, connected where one links to another or says something similar.</p>
        </Empty>
      ) : (
        <Connections map={live.value} params={params} />
      )}
    </>
  );
}

function Connections({ map, params }: { map: MemoryMap; params: URLSearchParams }): VNode {
  const without = params.get("without") ?? "";
  const edges = useMemo(() => map.edges.filter(({ kind }) => !without.split(",").includes(kind)), [map, without]);
  // By its file: positions change when memories come and go.
  const [chosen, setChosen] = useState<string | null>(null);
  const [merging, setMerging] = useState<{ keep: MemoryTitle; other: MemoryTitle } | null>(null);
  const choose = useCallback(
    (at: number | null) => {
      const node = at === null ? undefined : map.nodes[at];
      setChosen(node === undefined ? null : keyOf(node));
    },
    [map],
  );
  const merge = ({ a, b }: Pair) => {
    const [keep, other] = [map.nodes[a], map.nodes[b]];
    if (keep && other) setMerging({ keep, other });
  };
  const found = chosen === null ? -1 : map.nodes.findIndex((node) => keyOf(node) === chosen);
  const current = found < 0 ? null : found;
  const tab = params.get("as") === "list" ? "list" : "picture";
  return (
    <>
      <div class="row">
        <KindChoice map={map} without={without} />
        <Finder map={map} onChoose={choose} />
      </div>
      <Tabs
        label="How the map is shown"
        tabs={[
          { id: "picture", title: "Picture" },
          { id: "list", title: "List" },
        ]}
        current={tab}
        onChange={(as) => amend({ as: as === "list" ? "list" : null })}
      >
        {tab === "list" ? (
          <TieList map={map} edges={edges} />
        ) : (
          <div class={`map-row${current === null ? "" : " has-card"}`}>
            <div>
              <MapPicture map={map} edges={edges} chosen={current} onChoose={choose} />
              <p class="map-legend soft small" aria-hidden="true">
                {[...new Set(map.nodes.map(({ type }) => type))].map((type) => (
                  <TypeTag key={type} type={type} />
                ))}
              </p>
            </div>
            {current === null ? null : <Card map={map} edges={edges} at={current} onChoose={choose} onMerge={merge} />}
          </div>
        )}
      </Tabs>
      <Duplicates map={map} onMerge={merge} />
      {merging === null ? null : <MergeDialog {...merging} onClose={() => setMerging(null)} />}
    </>
  );
}

function KindChoice({ map, without }: { map: MemoryMap; without: string }): VNode {
  const hidden = new Set(without.split(",").filter((kind) => kind !== ""));
  return (
    <fieldset class="row choices">
      <legend class="hidden">Connections shown</legend>
      {KINDS.map(({ kind, title }) => (
        <Button
          key={kind}
          isSmall
          isPressed={!hidden.has(kind)}
          onClick={() => {
            if (!hidden.delete(kind)) hidden.add(kind);
            amend({ without: [...hidden].join(",") });
          }}
        >
          <span class={`edge-sample edge-${kind}`} aria-hidden="true" />
          {title} <span class="soft">{map.edges.filter((edge) => edge.kind === kind).length.toLocaleString()}</span>
        </Button>
      ))}
    </fieldset>
  );
}

function Finder({ map, onChoose }: { map: MemoryMap; onChoose: (node: number | null) => void }): VNode {
  return (
    <div class="grow finder">
      <label for="find" class="hidden">
        Find a memory on the map
      </label>
      <input
        id="find"
        type="search"
        list="map-names"
        autocomplete="off"
        placeholder="Find a memory"
        onInput={(event) => {
          const name = event.currentTarget.value;
          const at = map.nodes.findIndex((node) => node.name === name);
          if (at >= 0) onChoose(at);
        }}
      />
      <datalist id="map-names">
        {map.nodes.map((node) => (
          <option key={keyOf(node)} value={node.name} />
        ))}
      </datalist>
    </div>
  );
}

interface CardProps {
  map: MemoryMap;
  edges: MemoryMap["edges"];
  at: number;
  onChoose: (node: number | null) => void;
  onMerge: (pair: Pair) => void;
}

function Card({ map, edges, at, onChoose, onMerge }: CardProps): VNode | null {
  const { readOnly } = useStart();
  const node = map.nodes[at];
  if (node === undefined) return null;
  return (
    <aside class="card map-card" aria-label="The chosen memory">
      <h2>
        <bdi>{node.name}</bdi>
      </h2>
      <p class="row">
        <TypeTag type={node.type} /> <Tag>{node.scope}</Tag>
      </p>
      <p dir="auto">{node.description}</p>
      <div class="row">
        <LinkButton href={formatMemoryRoute(node)} isSmall kind="primary">
          Open
        </LinkButton>
        <Button isSmall kind="quiet" onClick={() => onChoose(null)}>
          Close
        </Button>
      </div>
      <ul class="connections">
        {edgesAt(edges, at).map(({ to, says, edge }) => (
          <li key={`${to} ${says}`}>
            <span class="soft">{says}</span>{" "}
            <button type="button" class="link" dir="auto" onClick={() => onChoose(to)}>
              {map.nodes[to]?.name}
            </button>{" "}
            {edge.kind === "near" && !readOnly ? (
              <Button
                isSmall
                kind="quiet"
                label={`Merge with ${map.nodes[to]?.name}`}
                onClick={() => onMerge({ a: at, b: to })}
              >
                Merge
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** The map as text: every memory with its connections. */
function TieList({ map, edges }: { map: MemoryMap; edges: MemoryMap["edges"] }): VNode {
  const all = useMemo(() => map.nodes.map((_, at) => edgesAt(edges, at)), [map, edges]);
  const alone = map.nodes.filter((_, at) => all[at]?.length === 0);
  return (
    <div class="stack">
      <ul class="tie-list">
        {map.nodes.map((node, at) =>
          all[at]?.length === 0 ? null : (
            <li key={keyOf(node)}>
              <MemoryLink memory={node} /> <TypeTag type={node.type} />
              <ul>
                {all[at]?.map(({ to, says }) => {
                  const memory = map.nodes[to];
                  return memory === undefined ? null : (
                    <li key={`${to} ${says}`}>
                      <span class="soft">{says}</span> <MemoryLink memory={memory} />
                    </li>
                  );
                })}
              </ul>
            </li>
          ),
        )}
      </ul>
      {alone.length === 0 ? null : (
        <>
          <Heading title="No connections" count={alone.length} />
          <LinkRow memories={alone} />
        </>
      )}
    </div>
  );
}

function edgesAt(edges: MemoryMap["edges"], at: number) {
  return edges
    .filter(({ a, b }) => a === at || b === at)
    .map((edge) => ({ edge, to: edge.a === at ? edge.b : edge.a, says: sayEdge(edge, edge.a === at) }));
}

function sayEdge({ kind, share }: MemoryMap["edges"][number], isFrom: boolean): string {
  if (kind === "near") return `${Math.round(share * 100)}% alike:`;
  if (kind === "supersedes") return isFrom ? "supersedes" : "superseded by";
  return isFrom ? "links to" : "linked from";
}

/** At first; the rest is shown on demand. */
const PAIRS_SHOWN = 10;

/** Pairs of memories side by side, with a way to merge them. */
function Duplicates({ map, onMerge }: { map: MemoryMap; onMerge: (pair: Pair) => void }): VNode {
  const { readOnly } = useStart();
  const pairs = map.duplicates;
  const [shown, more] = useFirst(pairs, PAIRS_SHOWN, 20);
  return (
    <Section title="Near duplicates" count={formatCount(pairs.length, "pair")}>
      {pairs.length === 0 ? <p class="soft">No two memories say nearly the same.</p> : null}
      <ul class="pairs-list">
        {shown.map((pair) => {
          const sides = [map.nodes[pair.a], map.nodes[pair.b]];
          return (
            <li key={`${pair.a} ${pair.b}`} class="pair">
              {sides.map((node) =>
                node === undefined ? null : (
                  <div key={keyOf(node)}>
                    <h3>
                      <MemoryLink memory={node} />
                    </h3>
                    <p dir="auto">{node.description}</p>
                    <p class="row soft small">
                      <TypeTag type={node.type} /> <Tag>{node.scope}</Tag>
                    </p>
                  </div>
                ),
              )}
              <div class="pair-end">
                <Tag tone="warn">{Math.round(pair.share * 100)}% alike</Tag>
                {readOnly ? null : (
                  <Button isSmall label={`Merge ${sides[0]?.name} and ${sides[1]?.name}`} onClick={() => onMerge(pair)}>
                    Merge
                  </Button>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {more === null ? null : <Button onClick={more}>More pairs</Button>}
    </Section>
  );
}
