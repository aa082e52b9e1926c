/** One memory: what it says, what is known of it, and what became of it. */
import type { VNode } from "preact";
import type { MemoryView } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive } from "../live.ts";
import { Age } from "../parts/age.tsx";
import { Empty, Waiting } from "../parts/empty.tsx";
import { formatBytes } from "../parts/format.ts";
import { Markdown } from "../parts/markdown.tsx";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useStart } from "../parts/start.ts";
import { Tabs } from "../parts/tabs.tsx";
import { Tag, TypeTag, toneOf } from "../parts/tag.tsx";
import { amend, formatRoute, go, goBack } from "../router.ts";
import { Actions } from "./memory-actions.tsx";
import { Claims, History, Surfacings } from "./memory-records.tsx";
import { MemorySide } from "./memory-side.tsx";

export function View({ params }: { params: URLSearchParams }): VNode {
  const query = { directory: params.get("directory") ?? "0", file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", query);
  const { readOnly } = useStart();
  const memory = live.value;
  const mayChange = memory !== null && !readOnly && !memory.row.isReadOnly;
  useKeys({
    e: () => {
      if (mayChange) go("edit", query);
    },
    Escape: () => goBack("memories"),
  });
  if (memory === null)
    return (
      <>
        <PageHead title={query.file} />
        {live.failure?.status === 404 ? <Gone /> : <Waiting live={live} />}
      </>
    );
  return (
    <>
      <PageHead title={memory.row.name} lead={<span dir="auto">{memory.row.description}</span>}>
        {mayChange ? <Actions memory={memory} /> : null}
      </PageHead>
      <Marks memory={memory} />
      {memory.row.problems.length === 0 ? null : (
        <Notice tone="warn">
          {memory.row.problems.map((problem) => (
            <p key={problem} dir="auto">
              {problem}
            </p>
          ))}
        </Notice>
      )}
      <div class="memory">
        <article class="memory-body" aria-label="What it says">
          {memory.body.length === 0 ? <p class="soft">It says nothing more.</p> : <Markdown nodes={memory.body} />}
        </article>
        <MemorySide memory={memory} />
      </div>
      <Records memory={memory} current={params.get("tab") ?? "claims"} />
    </>
  );
}

function Marks({ memory }: { memory: MemoryView }): VNode {
  const { row } = memory;
  return (
    <ul class="marks">
      <li>
        <TypeTag type={row.type} />
      </li>
      <li dir="auto">in {row.scope}</li>
      {row.author === null ? null : <li dir="auto">by {row.author}</li>}
      <li>
        changed <Age at={row.modified} />
      </li>
      <li>{formatBytes(row.bytes)}</li>
      <li>recalled {row.recalled === 0 ? "never" : `${row.recalled}×`}</li>
      {row.pinned ? <li>pinned</li> : null}
      {row.isReadOnly ? <li>read-only</li> : null}
      {row.verdict === null ? null : (
        <li>
          <Tag tone={toneOf(row.verdict.state)}>{row.verdict.says || row.verdict.state}</Tag>
        </li>
      )}
    </ul>
  );
}

function Records({ memory, current }: { memory: MemoryView; current: string }): VNode {
  const tabs = [
    { id: "claims", title: "Claims", count: memory.claims.length },
    { id: "history", title: "History", count: memory.history.length },
    { id: "surfaced", title: "Surfaced", count: memory.surfaced.length },
  ];
  const known = tabs.some((tab) => tab.id === current) ? current : "claims";
  return (
    <Tabs label="What is known of it" tabs={tabs} current={known} onChange={(tab) => amend({ tab })}>
      {known === "claims" ? <Claims claims={memory.claims} /> : null}
      {known === "history" ? <History rows={memory.history} /> : null}
      {known === "surfaced" ? <Surfacings rows={memory.surfaced} /> : null}
    </Tabs>
  );
}

function Gone(): VNode {
  return (
    <Empty title="This memory is no longer there">
      <p>It was forgotten or renamed. The timeline says when.</p>
      <p>
        <a href={formatRoute("memories")}>All memories</a> · <a href={formatRoute("timeline")}>Timeline</a>
      </p>
    </Empty>
  );
}
