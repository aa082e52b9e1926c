/** One memory: its text, its details, its history, and actions. */
import type { ComponentChildren, VNode } from "preact";
import type { ClaimRow, HistoryRow, MemoryTitle, MemoryView } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, LinkButton, MemoryLink, Soft, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { changeMemory, undo } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { formatBytes, formatCount, formatMoment } from "../parts/format.ts";
import { Empty, PageHead, Tabs, Waiting } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { Diff, Markdown } from "../parts/texts.tsx";
import { amend, formatRoute, go, goBack, replace } from "../router.ts";

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
      <Lines lines={memory.row.problems} />
      <div class="memory">
        <article class="memory-body" aria-label="Content">
          {memory.body.length === 0 ? (
            <p class="soft">The memory has no text beyond its description.</p>
          ) : (
            <Markdown nodes={memory.body} />
          )}
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
    <ul class="marks soft small">
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
    <Tabs label="Details" tabs={tabs} current={known} onChange={(tab) => amend({ tab })}>
      {known === "claims" ? <Claims claims={memory.claims} /> : null}
      {known === "history" ? <History rows={memory.history} /> : null}
      {known === "surfaced" ? <Surfacings rows={memory.surfaced} /> : null}
    </Tabs>
  );
}

function Gone(): VNode {
  return (
    <Empty title="This memory no longer exists">
      <p>It was forgotten or renamed. The timeline shows when.</p>
      <p>
        <a href={formatRoute("memories")}>All memories</a> · <a href={formatRoute("timeline")}>Timeline</a>
      </p>
    </Empty>
  );
}

/** Edit, rename, forget; each can be undone. */
function Actions({ memory }: { memory: MemoryView }): VNode {
  const { directory, file, name } = memory.row;
  const forget = async () => {
    const reason = await ask({
      title: `Forget “${name}”?`,
      text: "The file is removed. The journal keeps it, so you can undo this.",
      yes: "Forget",
      isDanger: true,
      field: { label: "Reason (recorded in the journal)" },
    });
    if (reason === null) return;
    if (await changeMemory("forget", "forgot", { directory, file, ...(reason !== "" && { reason }) }))
      replace("memories");
  };
  const rename = async () => {
    const wanted = await ask({
      title: "Rename",
      text: saysLinks(memory.links.from.length),
      yes: "Rename",
      field: { label: "New name", value: name, isRequired: true },
    });
    if (wanted === null || wanted === name) return;
    const renamed = await changeMemory("rename", "renamed to", { directory, file, to: wanted });
    if (renamed) replace("memory", { directory, file: renamed.file });
  };
  return (
    <>
      <LinkButton kind="primary" href={formatRoute("edit", { directory, file })}>
        Edit
      </LinkButton>
      <Button onClick={() => void rename()}>Rename</Button>
      <Button kind="danger" onClick={() => void forget()}>
        Forget
      </Button>
    </>
  );
}

/** Links are by name, and those in other memories are not changed. */
function saysLinks(count: number): string {
  if (count === 0) return "Its file gets the new name too.";
  return `Its file gets the new name too. ${formatCount(count, "memory links", "memories link")} to the old name and must be changed.`;
}

/** Facts about a memory besides its text. */
function MemorySide({ memory }: { memory: MemoryView }): VNode {
  const { links, cues, fields, provenance } = memory;
  // Fields that are already shown are not repeated.
  const origin = provenance.filter(
    (fact) => !fields.some(({ key, value }) => key === fact.key && value === fact.value),
  );
  return (
    <aside class="memory-side small" aria-label="About this memory">
      <SidePart title="Links" isEmpty={links.to.length + links.from.length === 0}>
        <LinkList title="To" links={links.to} />
        <LinkList title="From" links={links.from} />
      </SidePart>
      <SidePart title="Cues" isEmpty={cues.length === 0}>
        <ul class="plain-list">
          {cues.map((cue) => (
            <li key={cue} dir="auto">
              {cue}
            </li>
          ))}
        </ul>
      </SidePart>
      <Facts title="Fields" facts={fields} />
      <Facts title="Where it comes from" facts={origin} />
    </aside>
  );
}

function SidePart(props: { title: string; isEmpty: boolean; children: ComponentChildren }): VNode | null {
  return props.isEmpty ? null : (
    <section class="aside-part">
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function LinkList({ title, links }: { title: string; links: (MemoryTitle | { name: string })[] }): VNode | null {
  return links.length === 0 ? null : (
    <>
      <h3 class="soft">{title}</h3>
      <ul class="plain-list">
        {links.map((link, at) => (
          <li key={at}>
            {"file" in link ? (
              <MemoryLink memory={link} />
            ) : (
              <span class="dangling" title="There is no memory with this name" dir="auto">
                {link.name}
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Facts({ title, facts }: { title: string; facts: MemoryView["fields"] }): VNode {
  return (
    <SidePart title={title} isEmpty={facts.length === 0}>
      <dl class="facts">
        {facts.map(({ key, value }) => (
          <div key={key}>
            <dt dir="auto">{key}</dt>
            <dd dir="auto">{Array.isArray(value) ? value.join(" · ") : formatFact(value)}</dd>
          </div>
        ))}
      </dl>
    </SidePart>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function formatFact(value: string): ComponentChildren {
  return MOMENT.test(value) ? <time dateTime={value}>{formatMoment(value)}</time> : value;
}

function Claims({ claims }: { claims: ClaimRow[] }): VNode {
  if (claims.length === 0)
    return (
      <Empty title="No claims to check">
        <p>memdir checks paths, commands, versions and dates in a memory against the project.</p>
      </Empty>
    );
  return (
    <ul class="records">
      {claims.map((claim) => (
        <li key={`${claim.line} ${claim.kind} ${claim.text}`} class="record">
          <div class="row">
            <Tag tone={toneOf(claim.verdict)}>{claim.verdict}</Tag>
            <code dir="auto">{claim.text}</code>
            <span class="soft">
              {claim.kind}
              {claim.line > 0 ? `, line ${claim.line}` : ""}
            </span>
          </div>
          <Soft text={claim.evidence} />
        </li>
      ))}
    </ul>
  );
}

function History({ rows }: { rows: HistoryRow[] }): VNode {
  if (rows.length === 0)
    return (
      <Empty title="No recorded changes">
        <p>The journal begins with the first change that memdir makes.</p>
      </Empty>
    );
  return (
    <ol class="records">
      {rows.map((row, at) => (
        <li key={row.id} class="record">
          <Change row={row} isOpen={at === 0} />
        </li>
      ))}
    </ol>
  );
}

function Change({ row, isOpen }: { row: HistoryRow; isOpen: boolean }): VNode {
  const { readOnly } = useStart();
  const undoThis = async () => {
    const given = await ask({
      title: `Undo this ${row.action}?`,
      text: `Made ${formatMoment(row.at)} by ${row.by}. You can undo the undo, too.`,
      yes: "Undo",
    });
    if (given !== null) await undo(row.id);
  };
  return (
    <details open={isOpen}>
      <summary>
        <strong>{row.action}</strong>{" "}
        <span class="soft">
          <Age at={row.at} /> by {row.by}
        </span>{" "}
        {row.undone ? <Tag>undone</Tag> : null}
      </summary>
      {row.reason === "" ? null : <p dir="auto">{row.reason}</p>}
      {row.diff.length === 0 ? (
        <p class="soft">The text of this change is no longer kept.</p>
      ) : (
        <Diff lines={row.diff} label={`What ${row.action} changed`} />
      )}
      {row.canUndo && !row.undone && !readOnly ? (
        <Button isSmall onClick={() => void undoThis()}>
          Undo this change
        </Button>
      ) : null}
    </details>
  );
}

function Surfacings({ rows }: { rows: MemoryView["surfaced"] }): VNode {
  if (rows.length === 0)
    return (
      <Empty title="It was never shown to a model">
        <p>Try prompts in the recall view to see which ones would show it.</p>
      </Empty>
    );
  return (
    <ol class="records">
      {rows.map((row) => (
        <li key={`${row.at} ${row.session}`} class="record">
          <p>
            <Age at={row.at} /> <span class="soft">through {row.adapter}</span>
            {row.session === null ? null : <code class="soft"> {row.session}</code>}
          </p>
          {row.why.map((reason) => (
            <Soft key={reason} text={reason} />
          ))}
        </li>
      ))}
    </ol>
  );
}
