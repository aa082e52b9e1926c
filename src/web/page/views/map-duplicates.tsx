/** Pairs of memories that say nearly the same, side by side, with a way to make one of two. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { MemoryMap } from "../../api.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/format.ts";
import { MemoryLink } from "../parts/memory-link.tsx";
import { useStart } from "../parts/start.ts";
import { Tag, TypeTag } from "../parts/tag.tsx";

/** Positions in the map's nodes. */
export interface Pair {
  a: number;
  b: number;
}

/** Pairs at first; the rest comes on demand. */
const PAIRS_SHOWN = 10;

export function Duplicates({ map, onMerge }: { map: MemoryMap; onMerge: (pair: Pair) => void }): VNode {
  const { readOnly } = useStart();
  const [count, setCount] = useState(PAIRS_SHOWN);
  const pairs = map.duplicates;
  return (
    <section class="stack" aria-label="Nearly the same">
      <h2>
        Nearly the same <span class="soft">{formatCount(pairs.length, "pair")}</span>
      </h2>
      {pairs.length === 0 ? <p class="soft">No two memories say nearly the same.</p> : null}
      <ul class="pairs-list">
        {pairs.slice(0, count).map((pair) => {
          const sides = [map.nodes[pair.a], map.nodes[pair.b]];
          return (
            <li key={`${pair.a} ${pair.b}`} class="pair">
              {sides.map((node) =>
                node === undefined ? null : (
                  <div key={`${node.directory}/${node.file}`}>
                    <h3>
                      <MemoryLink memory={node} />
                    </h3>
                    <p dir="auto">{node.description}</p>
                    <p class="row soft">
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
      {count < pairs.length ? <Button onClick={() => setCount(count + 20)}>More pairs</Button> : null}
    </section>
  );
}
