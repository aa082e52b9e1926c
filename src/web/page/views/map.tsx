/** The map: memories by link and by meaning, as a picture and as a list, and pairs that say nearly the same. */
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { useLive } from "../live.ts";
import {
  Button,
  Field,
  formatMemoryRoute,
  LinkRow,
  List,
  MemoryLink,
  Soft,
  Tag,
  TextButton,
  TypeTag,
} from "../parts/basics.tsx";
import { formatCount, keyOf } from "../parts/format.ts";
import { Empty, Heading, Kinds, Page, readWithout, Section, Tabs } from "../parts/layout.tsx";
import { MergeButton } from "../parts/merge.tsx";
import { MapPicture } from "./map-picture.tsx";

type Edge = MemoryMap["edges"][number];
type Node = MemoryMap["nodes"][number];

const KINDS: { kind: Edge["kind"]; title: string; class: string }[] = [
  { kind: "link", title: "Links", class: "edge-sample edge-link" },
  { kind: "near", title: "Meaning", class: "edge-sample edge-near" },
  { kind: "supersedes", title: "Supersedes", class: "edge-sample edge-supersedes" },
];

const NONE = "Memories appear here as points, connected where one links to another or says something similar.";

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<MemoryMap>("/api/map");
  return (
    <Page
      title="Map"
      lead="Memories that are linked or mean nearly the same are close together."
      live={live}
      none={({ nodes }) => (nodes.length === 0 ? <Empty title="There is nothing to map yet" text={NONE} /> : null)}
    >
      {(map) => <Connections map={map} params={params} />}
    </Page>
  );
}

function Connections({ map, params }: { map: MemoryMap; params: URLSearchParams }): VNode {
  const { nodes } = map;
  const without = readWithout(params);
  const edges = useMemo(() => map.edges.filter(({ kind }) => !without.has(kind)), [map, params.get("without")]);
  // By its file: positions change when memories come and go.
  const [chosen, setChosen] = useState<string | null>(null);
  const choose = (node: Node | undefined) => setChosen(node === undefined ? null : keyOf(node));
  const find = (name: string) => {
    const found = nodes.find((node) => node.name === name);
    if (found !== undefined) choose(found);
  };
  const current = nodes.find((node) => keyOf(node) === chosen);
  const list = <ConnectionList nodes={nodes} edges={edges} />;
  const picture = (
    <div class="split">
      <div class="stack-xs main">
        <MapPicture map={map} edges={edges} chosen={current} onChoose={choose} />
        <p class="row row-wide soft small" aria-hidden="true">
          {[...new Set(nodes.map(({ type }) => type))].map((type) => (
            <TypeTag key={type} type={type} />
          ))}
        </p>
      </div>
      {current === undefined ? null : <Card node={current} joined={connect(nodes, edges, current)} onChoose={choose} />}
    </div>
  );
  return (
    <>
      <div class="row">
        <Kinds
          label="Connections shown"
          kinds={KINDS}
          countOf={(kind) => map.edges.filter((edge) => edge.kind === kind).length}
          without={without}
        />
        <Field
          label="Find a memory on the map"
          isBare
          type="search"
          list="map-names"
          autocomplete="off"
          placeholder="Find a memory"
          onInput={find}
        />
        <datalist id="map-names">
          {nodes.map((node) => (
            <option key={keyOf(node)} value={node.name} />
          ))}
        </datalist>
      </div>
      <Tabs
        label="How the map is shown"
        tabs={[
          { id: "picture", title: "Picture", panel: picture },
          { id: "list", title: "List", panel: list },
        ]}
        name="as"
        params={params}
      />
      <Duplicates map={map} />
    </>
  );
}

interface CardProps {
  node: Node;
  joined: Connection[];
  onChoose: (node: Node | undefined) => void;
}

function Card({ node, joined, onChoose }: CardProps): VNode {
  return (
    <aside class="card map-card stack-s" aria-label="The chosen memory">
      <h2>
        <bdi>{node.name}</bdi>
      </h2>
      <Description node={node} />
      <div class="row">
        <Button text="Open" isSmall kind="primary" href={formatMemoryRoute(node)} />
        <Button text="Close" isSmall kind="quiet" onClick={() => onChoose(undefined)} />
      </div>
      <List rows={joined}>
        {({ to, says, kind }) => (
          <>
            <span class="soft">{says}</span> <TextButton text={to.name} onClick={() => onChoose(to)} />{" "}
            {kind === "near" ? (
              <MergeButton keep={node} other={to} isSmall kind="quiet" aria-label={`Merge with ${to.name}`} />
            ) : null}
          </>
        )}
      </List>
    </aside>
  );
}

function Description({ node }: { node: Node }): VNode {
  return (
    <>
      <p dir="auto">{node.description}</p>
      <p class="row soft small">
        <TypeTag type={node.type} /> <Tag text={node.scope} />
      </p>
    </>
  );
}

/** The map as text: every memory with its connections. */
function ConnectionList({ nodes, edges }: { nodes: Node[]; edges: Edge[] }): VNode {
  const all = useMemo(() => nodes.map((node) => ({ node, joined: connect(nodes, edges, node) })), [nodes, edges]);
  const alone = all.filter(({ joined }) => joined.length === 0).map(({ node }) => node);
  return (
    <div class="stack">
      <List class="ruled map-list" rows={all.filter(({ joined }) => joined.length > 0)}>
        {({ node, joined }) => (
          <>
            <span class="row">
              <MemoryLink memory={node} /> <span class="soft small" children={<TypeTag type={node.type} />} />
            </span>
            <List class="list small" rows={joined}>
              {({ to, says }) => (
                <>
                  <span class="soft">{says}</span> <MemoryLink memory={to} />
                </>
              )}
            </List>
          </>
        )}
      </List>
      {alone.length === 0 ? null : <Heading title="No connections" count={alone.length} />}
      <LinkRow memories={alone} />
    </div>
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

function sayEdge({ kind, share }: Edge, isFrom: boolean): string {
  if (kind === "near") return `${Math.round(share * 100)}% alike:`;
  if (kind === "supersedes") return isFrom ? "supersedes" : "superseded by";
  return isFrom ? "links to" : "linked from";
}

/** At first; the rest is shown on demand. */
const PAIRS_SHOWN = 10;

/** Pairs of memories side by side, with a way to merge them. */
function Duplicates({ map: { nodes, duplicates } }: { map: MemoryMap }): VNode {
  const pairs = duplicates.flatMap(({ a, b, share }) => {
    const [keep, other] = [nodes[a], nodes[b]];
    return keep && other ? [{ keep, other, share }] : [];
  });
  const none = <Soft text="No two memories say nearly the same." />;
  return (
    <Section title="Near duplicates" count={formatCount(pairs.length, "pair")}>
      <List class="ruled" item="row row-wide" rows={pairs} none={none} first={PAIRS_SHOWN}>
        {({ keep, other, share }) => (
          <>
            {[keep, other].map((node) => (
              <div key={keyOf(node)} class="stack-xs grow">
                <h3>
                  <MemoryLink memory={node} />
                </h3>
                <Description node={node} />
              </div>
            ))}
            <div class="row">
              <Tag tone="warn" text={`${Math.round(share * 100)}% alike`} />
              <MergeButton keep={keep} other={other} isSmall aria-label={`Merge ${keep.name} and ${other.name}`} />
            </div>
          </>
        )}
      </List>
    </Section>
  );
}
