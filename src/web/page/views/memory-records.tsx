/** What is recorded of a memory: its claims against the code, its changes with undo, and when it was shown to a model. */
import type { VNode } from "preact";
import type { ClaimRow, HistoryRow, MemoryView } from "../../api.ts";
import { Age } from "../parts/age.tsx";
import { Button } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { Empty } from "../parts/empty.tsx";
import { formatMoment } from "../parts/format.ts";
import { useStart } from "../parts/start.ts";
import { Tag, toneOf } from "../parts/tag.tsx";
import { undo } from "../parts/undo.ts";

export function Claims({ claims }: { claims: ClaimRow[] }): VNode {
  if (claims.length === 0)
    return (
      <Empty title="It claims nothing that can be checked">
        <p>Paths, commands, versions and dates in a memory are looked up in the project.</p>
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
          {claim.evidence === "" ? null : (
            <p class="soft" dir="auto">
              {claim.evidence}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

export function History({ rows }: { rows: HistoryRow[] }): VNode {
  if (rows.length === 0)
    return (
      <Empty title="No changes are recorded">
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
  const takeBack = async () => {
    const given = await ask({
      title: `Undo this ${row.action}?`,
      text: `Of ${formatMoment(row.at)}, by ${row.by}. The undoing can be undone too.`,
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
        <Button isSmall onClick={() => void takeBack()}>
          Undo this change
        </Button>
      ) : null}
    </details>
  );
}

export function Surfacings({ rows }: { rows: MemoryView["surfaced"] }): VNode {
  if (rows.length === 0)
    return (
      <Empty title="It was never shown to a model">
        <p>Try a prompt in the recall view to see what would bring it up.</p>
      </Empty>
    );
  return (
    <ol class="records">
      {rows.map((row) => (
        <li key={`${row.at} ${row.session}`} class="record">
          <p>
            <Age at={row.at} /> <span class="soft">through {row.door}</span>
            {row.session === null ? null : <code class="soft"> {row.session}</code>}
          </p>
          {row.why.map((reason) => (
            <p key={reason} class="soft" dir="auto">
              {reason}
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}
