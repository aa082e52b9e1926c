/** The team: where memories are shared, who wrote what, and conflicts side by side. */
import type { VNode } from "preact";
import type { TeamAnswer } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, List, MemoryLink, Soft, TextButton } from "../parts/basics.tsx";
import { change } from "../parts/change.ts";
import { formatCount, keyOf } from "../parts/format.ts";
import { useBusy } from "../parts/hooks.ts";
import { Empty, Page, Section, Table } from "../parts/layout.tsx";
import { MergeButton, refOf } from "../parts/merge.tsx";
import { Diff, Sides } from "../parts/texts.tsx";
import { amend } from "../router.ts";

/** At first; the rest is shown on demand. */
const ROWS_SHOWN = 50;

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<TeamAnswer>("/api/team");
  const by = params.get("by");
  return (
    <Page title="Team" lead={live.value && <Place team={live.value} />} live={live} none={sayAlone}>
      {(team) => (
        <>
          <Section title="Conflicts" count={team.conflicts.length}>
            <List
              class="stack"
              item="card proposal stack-s"
              none={<Soft text="No conflicts." />}
              rows={team.conflicts}
              keyOf={({ copy }) => keyOf(copy)}
            >
              {(conflict) => <Conflict conflict={conflict} />}
            </List>
          </Section>
          <People people={team.people} current={by} />
          <Written rows={team.rows} by={by} />
        </>
      )}
    </Page>
  );
}

function Place({ team: { place, lastSync } }: { team: TeamAnswer }): VNode {
  return (
    <>
      {place === null || place.kind === "none" ? (
        "Not shared."
      ) : (
        <>
          Shared through {place.kind === "repository" ? "the repository" : "a server"}:{" "}
          <code dir="auto">{place.where}</code>.{" "}
        </>
      )}
      {lastSync === null ? null : (
        <>
          Last sync <Age at={lastSync} />.
        </>
      )}
    </>
  );
}

function Conflict({ conflict }: { conflict: TeamAnswer["conflicts"][number] }): VNode {
  const { ours, copy, left, right, diff } = conflict;
  const { readOnly } = useStart();
  const [isBusy, run] = useBusy();
  const keep = (text: string) =>
    run(change("/api/merge", { keep: refOf(ours), other: refOf(copy), text, left, right }));
  const keepButton = (text: string, side: string) => (
    <Button text={text} aria-label={`${text}: ${ours.name}`} isBusy={isBusy} onClick={() => keep(side)} />
  );
  const label = `Merge: ${ours.name}`;
  return (
    <>
      <h3>
        <MemoryLink memory={ours} />
      </h3>
      <Sides left={{ title: "Ours", text: left }} right={{ title: "Theirs", text: right }} />
      <details class="stack-s">
        <summary>Show the diff</summary>
        <Diff lines={diff} label={`From ours to theirs: ${ours.name}`} />
      </details>
      {readOnly ? null : (
        <div class="row">
          {keepButton("Keep ours", left)}
          {keepButton("Keep theirs", right)}
          <MergeButton text="Merge…" kind="primary" keep={ours} other={copy} disabled={isBusy} aria-label={label} />
        </div>
      )}
    </>
  );
}

function People({ people, current }: { people: TeamAnswer["people"]; current: string | null }): VNode {
  const choose = (name: string) => amend({ by: name === current ? null : name });
  return (
    <Section title="People">
      <Table
        caption="Number of memories by author"
        none="There are no shared memories yet."
        columns={[
          {
            title: "Name",
            cell: ({ name }) => <TextButton text={name} aria-pressed={name === current} onClick={() => choose(name)} />,
          },
          { title: "Memories", isNumber: true, cell: ({ memories }) => memories.toLocaleString() },
          { title: "Last", cell: ({ last }) => (last === null ? "never" : <Age at={last} />) },
        ]}
        rows={people}
        keyOf={({ name }) => name}
      />
    </Section>
  );
}

function Written({ rows, by }: { rows: TeamAnswer["rows"]; by: string | null }): VNode {
  const written = by === null ? rows : rows.filter(({ author }) => author === by);
  const title = by === null ? "Who wrote what" : `Written by ${by}`;
  return (
    <Section title={title} label="Who wrote what" count={formatCount(written.length, "memory", "memories")}>
      {by === null ? null : <Button isSmall text="Show all authors" onClick={() => amend({ by: null })} />}
      <Table
        caption="Shared memories and their last authors"
        none="No shared memories yet."
        columns={[
          { title: "Memory", cell: (row) => <MemoryLink memory={row} /> },
          { title: "By", cell: ({ author }) => author || <span class="soft">not shared yet</span> },
          { title: "When", cell: ({ at }) => <Age at={at} /> },
        ]}
        rows={written}
        keyOf={keyOf}
        first={ROWS_SHOWN}
      />
    </Section>
  );
}

function sayAlone({ place, rows, people, conflicts }: TeamAnswer): VNode | null {
  if ((place !== null && place.kind !== "none") || rows.length + people.length + conflicts.length > 0) return null;
  return (
    <Empty title="Memories are not shared here">
      <p>
        With <code>memdir init --team</code> you share them through the repository, and with <code>memdir join</code>{" "}
        through a team’s server. Authors and conflicts then appear here.
      </p>
    </Empty>
  );
}
