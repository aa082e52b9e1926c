/** The map, a way to show the memories: those with connections by link and by meaning, as a picture and as a list. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive } from "../live.ts";
import { Button, formatMemoryRoute, List, MemoryLink, Tag, TextButton, TypeTag } from "../parts/basics.tsx";
import { formatCount, holds, keyOf } from "../parts/format.ts";
import { Empty, Kinds, Page, readWithout, SearchField } from "../parts/layout.tsx";
import { amend } from "../router.ts";
import { type Choose, MapPicture, type Node } from "./map-picture.tsx";

type Edge = MemoryMap["edges"][number];

const KINDS: { value: Edge["kind"]; title: string; class: string }[] = [
  { value: "link", title: "Links", class: "edge-sample edge-link" },
  { value: "near", title: "Meaning", class: "edge-sample edge-near" },
  { value: "supersedes", title: "Supersedes", class: "edge-sample edge-supersedes" },
];

const NONE = (
  <Empty
    title="There is nothing to map yet"
    text="Memories appear here as points, connected where one links to another or says something similar."
  />
);

/** `modes`: the way back to the list. */
export function MapView({ params, modes }: { params: URLSearchParams; modes: VNode }): VNode {
  const live = useLive<MemoryMap>("/api/map");
  return (
    <Page title="Memories" lead={live.value === null ? undefined : saysShown(live.value)} live={live} actions={modes}>
      {(map) => (map.nodes.length === 0 ? NONE : <Connections map={map} params={params} />)}
    </Page>
  );
}

/** What is drawn, and what is not. */
function saysShown({ nodes, total, alone, uncompared }: MemoryMap): string {
  const drawn = `${nodes.length.toLocaleString()} of ${formatCount(total, "memory", "memories")} drawn`;
  const beyond = total - alone - nodes.length;
  const left = [
    ...(alone > 0 ? [`${formatCount(alone, "has", "have")} no connection`] : []),
    ...(beyond > 0 ? [`${beyond.toLocaleString()} less connected ones are left out`] : []),
    ...(uncompared > 0 ? [`${formatCount(uncompared, "older one was", "older ones were")} not compared`] : []),
  ];
  return [drawn, ...left].join(" · ");
}

function Connections({ map, params }: { map: MemoryMap; params: URLSearchParams }): VNode {
  const { nodes } = map;
  const without = readWithout(params);
  const edges = useMemo(() => map.edges.filter(({ kind }) => !without.has(kind)), [map, params.get("without")]);
  const kinds = KINDS.map((each) => ({
    ...each,
    count: map.edges.filter(({ kind }) => kind === each.value).length,
  }));
  // By its file: positions change when memories come and go.
  const [chosen, setChosen] = useState<string | null>(params.get("memory"));
  const choose: Choose = (node) => setChosen(node === undefined ? null : keyOf(node));
  const current = nodes.find((node) => keyOf(node) === chosen);
  const [found, finder] = useFinder(nodes, choose);
  const isList = params.get("text") === "true";
  useKeys({ Escape: () => choose(undefined) });
  return (
    <>
      <div class="row">
        {finder}
        <Kinds label="Connections shown" choices={kinds} without={without} />
        <Button isSmall text="As text" aria-pressed={isList} onClick={() => amend({ text: isList ? null : "true" })} />
      </div>
      {isList ? (
        <ConnectionList nodes={nodes} edges={edges} />
      ) : (
        <div class="map-frame">
          <MapPicture map={map} edges={edges} chosen={current} found={found} onChoose={choose} />
          {current === undefined ? null : (
            <Card node={current} joined={connect(nodes, edges, current)} onChoose={choose} />
          )}
          <p class="map-legend row row-wide soft small" aria-hidden="true">
            {[...new Set(nodes.map(({ type }) => type))].map((type) => (
              <TypeTag key={type} type={type} />
            ))}
          </p>
        </div>
      )}
    </>
  );
}

/** A field that marks what matches while somebody types; Enter goes from one to the next. Null while nothing is searched for. */
function useFinder(nodes: Node[], onChoose: Choose): [found: Node[] | null, field: VNode] {
  const [typed, setTyped] = useState("");
  const next = useRef(0);
  useEffect(() => {
    next.current = 0;
  }, [typed]);
  const found = useMemo(() => {
    if (typed.trim() === "") return null;
    return nodes.filter(({ name, description }) => holds(`${name} ${description}`, typed));
  }, [nodes, typed]);
  const field = (
    <SearchField
      label="Find a memory on the map"
      placeholder="Find on the map…  /"
      class="row"
      q={typed}
      onInput={setTyped}
      onKeyDown={(event) => {
        if (event.key === "Enter" && found?.length) onChoose(found[next.current++ % found.length]);
      }}
    >
      <span class="soft small" role="status" children={found && formatCount(found.length, "match", "matches")} />
    </SearchField>
  );
  return [found, field];
}

function Card({ node, joined, onChoose }: { node: Node; joined: Connection[]; onChoose: Choose }): VNode {
  return (
    <aside class="card map-card stack-s" aria-label="The chosen memory">
      <h2>
        <bdi>{node.name}</bdi>
      </h2>
      <p dir="auto">{node.description}</p>
      <p class="row soft small">
        <TypeTag type={node.type} /> <Tag text={node.scope} />
      </p>
      <div class="row">
        <Button text="Open" isSmall kind="primary" href={formatMemoryRoute(node)} />
        <Button text="Edit" isSmall href={formatMemoryRoute(node, "edit")} />
        <Button text="Close" isSmall kind="quiet" onClick={() => onChoose(undefined)} />
      </div>
      <Joined joined={joined} show={(to) => <TextButton text={to.name} onClick={() => onChoose(to)} />} />
    </aside>
  );
}

/** The map as text: every memory with its connections. */
function ConnectionList({ nodes, edges }: { nodes: Node[]; edges: Edge[] }): VNode {
  const all = useMemo(() => nodes.map((node) => ({ node, joined: connect(nodes, edges, node) })), [nodes, edges]);
  return (
    <List class="ruled map-list" rows={all.filter(({ joined }) => joined.length > 0)}>
      {({ node, joined }) => (
        <>
          <span class="row">
            <MemoryLink memory={node} /> <span class="soft small" children={<TypeTag type={node.type} />} />
          </span>
          <Joined class="list small" joined={joined} show={(to) => <MemoryLink memory={to} />} />
        </>
      )}
    </List>
  );
}

function Joined(props: { joined: Connection[]; show: (to: Node) => VNode; class?: string }): VNode {
  return (
    <List rows={props.joined} class={props.class}>
      {({ to, says }) => (
        <>
          <span class="soft">{says}</span> {props.show(to)}
        </>
      )}
    </List>
  );
}

type Connection = ReturnType<typeof connect>[number];

function connect(nodes: Node[], edges: Edge[], node: Node) {
  const at = nodes.indexOf(node);
  return edges.flatMap((edge) => {
    const isFrom = edge.a === at;
    const to = isFrom ? nodes[edge.b] : edge.b === at ? nodes[edge.a] : undefined;
    return to === undefined ? [] : [{ kind: edge.kind, to, says: sayEdge(edge, isFrom) }];
  });
}

function sayEdge({ kind }: Edge, isFrom: boolean): string {
  if (kind === "near") return "similar to";
  if (kind === "supersedes") return isFrom ? "supersedes" : "superseded by";
  return isFrom ? "links to" : "linked from";
}
