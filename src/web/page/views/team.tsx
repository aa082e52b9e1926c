/** The team: where memories are shared, who wrote what, and conflicts side by side. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { TeamAnswer } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, MemoryLink } from "../parts/basics.tsx";
import { change } from "../parts/change.ts";
import { formatCount, keyOf } from "../parts/format.ts";
import { useFirst } from "../parts/hooks.ts";
import { Empty, PageHead, Section, Table, Waiting } from "../parts/layout.tsx";
import { MergeDialog, refOf } from "../parts/merge.tsx";
import { Diff, Sides } from "../parts/texts.tsx";
import { amend } from "../router.ts";

type Conflict = TeamAnswer["conflicts"][number];

/** At first; the rest is shown on demand. */
const ROWS_SHOWN = 50;

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<TeamAnswer>("/api/team");
  const team = live.value;
  return (
    <>
      <PageHead title="Team" lead={team === null ? undefined : <Place team={team} />} />
      {team === null ? (
        <Waiting live={live} />
      ) : isAlone(team) ? (
        <Empty title="Memories are not shared here">
          <p>
            With <code>memdir init --team</code> you share them through the repository, and with{" "}
            <code>memdir join</code> through a team’s server. Authors and conflicts then appear here.
          </p>
        </Empty>
      ) : (
        <>
          <Conflicts conflicts={team.conflicts} onChanged={live.reload} />
          <People people={team.people} current={params.get("by")} />
          <Written rows={team.rows} by={params.get("by")} />
        </>
      )}
    </>
  );
}

function Place({ team }: { team: TeamAnswer }): VNode {
  const { place, lastSync } = team;
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

function Conflicts({ conflicts, onChanged }: { conflicts: Conflict[]; onChanged: () => void }): VNode {
  return (
    <Section title="Conflicts" count={conflicts.length}>
      {conflicts.length === 0 ? (
        <p class="soft">No conflicts.</p>
      ) : (
        <ul class="proposals">
          {conflicts.map((conflict) => (
            <li key={keyOf(conflict.copy)} class="card proposal">
              <ConflictCard conflict={conflict} onChanged={onChanged} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ConflictCard({ conflict, onChanged }: { conflict: Conflict; onChanged: () => void }): VNode {
  const { readOnly } = useStart();
  const [isBusy, setBusy] = useState(false);
  const [isMerging, setMerging] = useState(false);
  const { ours, copy, left, right, diff } = conflict;
  const keep = async (text: string) => {
    setBusy(true);
    if (await change("/api/merge", { keep: refOf(ours), other: refOf(copy), text, left, right })) onChanged();
    setBusy(false);
  };
  return (
    <>
      <h3>
        <MemoryLink memory={ours} />
      </h3>
      <Sides left={{ title: "Ours", text: left }} right={{ title: "Theirs", text: right }} />
      <details>
        <summary>Show the diff</summary>
        <Diff lines={diff} label={`From ours to theirs: ${ours.name}`} />
      </details>
      {readOnly ? null : (
        <div class="actions">
          <Button onClick={() => void keep(left)} isBusy={isBusy} label={`Keep ours: ${ours.name}`}>
            Keep ours
          </Button>
          <Button onClick={() => void keep(right)} isBusy={isBusy} label={`Keep theirs: ${ours.name}`}>
            Keep theirs
          </Button>
          <Button kind="primary" onClick={() => setMerging(true)} isDisabled={isBusy} label={`Merge: ${ours.name}`}>
            Merge…
          </Button>
        </div>
      )}
      {isMerging ? <MergeDialog keep={ours} other={copy} onClose={() => setMerging(false)} /> : null}
    </>
  );
}

function People({ people, current }: { people: TeamAnswer["people"]; current: string | null }): VNode {
  return (
    <Section title="People">
      {people.length === 0 ? (
        <p class="soft">There are no shared memories yet.</p>
      ) : (
        <Table
          caption="Number of memories by author"
          columns={[
            {
              title: "Name",
              cell: ({ name }) => (
                <button
                  type="button"
                  class="link"
                  aria-pressed={name === current}
                  onClick={() => amend({ by: name === current ? null : name })}
                >
                  <bdi>{name}</bdi>
                </button>
              ),
            },
            { title: "Memories", isNumber: true, cell: ({ memories }) => memories.toLocaleString() },
            { title: "Last", cell: ({ last }) => (last === null ? "never" : <Age at={last} />) },
          ]}
          rows={people}
          keyOf={({ name }) => name}
        />
      )}
    </Section>
  );
}

function Written({ rows, by }: { rows: TeamAnswer["rows"]; by: string | null }): VNode {
  const written = by === null ? rows : rows.filter(({ author }) => author === by);
  const [shown, more] = useFirst(written, ROWS_SHOWN, 200);
  return (
    <Section
      title={by === null ? "Who wrote what" : `Written by ${by}`}
      label="Who wrote what"
      count={formatCount(written.length, "memory", "memories")}
    >
      {by === null ? null : (
        <p>
          <Button isSmall onClick={() => amend({ by: null })}>
            Show all authors
          </Button>
        </p>
      )}
      {shown.length === 0 ? (
        <p class="soft">No shared memories yet.</p>
      ) : (
        <Table
          caption="Shared memories and their last authors"
          columns={[
            { title: "Memory", cell: (row) => <MemoryLink memory={row} /> },
            { title: "By", cell: ({ author }) => author || <span class="soft">not shared yet</span> },
            { title: "When", cell: ({ at }) => <Age at={at} /> },
          ]}
          rows={shown}
          keyOf={keyOf}
        />
      )}
      {more === null ? null : <Button onClick={more}>Show more</Button>}
    </Section>
  );
}

function isAlone({ place, rows, people, conflicts }: TeamAnswer): boolean {
  return (place === null || place.kind === "none") && rows.length + people.length + conflicts.length === 0;
}
