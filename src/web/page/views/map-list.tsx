/** The map in words: every memory with what it is tied to. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { MemoryLink } from "../parts/memory-link.tsx";
import { TypeTag } from "../parts/tag.tsx";

export function TieList({ map, edges }: { map: MemoryMap; edges: MemoryMap["edges"] }): VNode {
  const all = useMemo(() => map.nodes.map((_, at) => edgesAt(edges, at)), [map, edges]);
  const alone = map.nodes.filter((_, at) => all[at]?.length === 0);
  return (
    <div class="stack">
      <ul class="tie-list">
        {map.nodes.map((node, at) =>
          all[at]?.length === 0 ? null : (
            <li key={`${node.directory}/${node.file}`}>
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
          <h2>
            Tied to nothing <span class="soft">{alone.length}</span>
          </h2>
          <ul class="link-row">
            {alone.map((node) => (
              <li key={`${node.directory}/${node.file}`}>
                <MemoryLink memory={node} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

export function edgesAt(edges: MemoryMap["edges"], at: number) {
  return edges
    .filter(({ a, b }) => a === at || b === at)
    .map((edge) => ({ edge, to: edge.a === at ? edge.b : edge.a, says: sayEdge(edge, edge.a === at) }));
}

function sayEdge({ kind, share }: MemoryMap["edges"][number], isFrom: boolean): string {
  if (kind === "near") return `${Math.round(share * 100)}% alike:`;
  if (kind === "supersedes") return isFrom ? "supersedes" : "superseded by";
  return isFrom ? "links to" : "linked from";
}
