/** The context: every instruction file that is loaded or not, with the reason, and what touching a file would add. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ContextAnswer, InstructionRow } from "../../api.ts";
import { useLive } from "../live.ts";
import { Bar } from "../parts/bar.tsx";
import { Empty, Waiting } from "../parts/empty.tsx";
import { formatBytes, formatCount } from "../parts/format.ts";
import { useLater } from "../parts/later.ts";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Sent } from "../parts/sent.tsx";
import { Table } from "../parts/table.tsx";
import { Tag } from "../parts/tag.tsx";
import { amend } from "../router.ts";

const PAUSE_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const [touch, setTouch] = useState(params.get("touch") ?? "");
  const [asked, askNow] = useLater(touch.trim(), PAUSE_MS);
  const live = useLive<ContextAnswer>("/api/context", { touch: asked });
  const [last, setLast] = useState<ContextAnswer | null>(null);
  const value = live.value ?? last;
  useEffect(() => {
    if (live.value !== null) setLast(live.value);
  }, [live.value]);
  useEffect(() => {
    if ((params.get("touch") ?? "") !== asked) amend({ touch: asked });
  }, [asked]);
  return (
    <>
      <PageHead
        title="Context"
        lead="What the model is told before anybody speaks: instruction files in the order they are sent, and the index."
      />
      {value === null ? (
        <Waiting live={live} />
      ) : (
        <>
          {value.warnings.length === 0 ? null : (
            <Notice tone="warn">
              {value.warnings.map((warning) => (
                <p key={warning} dir="auto">
                  {warning}
                </p>
              ))}
            </Notice>
          )}
          <Loaded rows={value.loaded} />
          <Touch touch={touch} onChange={setTouch} onAsk={() => askNow(touch.trim())}>
            {asked === "" ? null : <Added live={live} asked={asked} />}
          </Touch>
          <IndexText index={value.index} />
          <NotLoaded rows={value.notLoaded} />
        </>
      )}
    </>
  );
}

function Loaded({ rows }: { rows: InstructionRow[] }): VNode {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  return (
    <section class="stack" aria-label="Loaded">
      <h2>Loaded</h2>
      {rows.length === 0 ? (
        <Empty title="No instruction file is loaded">
          <p>
            A <code>CLAUDE.md</code> or <code>AGENTS.md</code> in the project, in your home or beside the code would
            stand here.
          </p>
        </Empty>
      ) : (
        <>
          <p class="soft">
            {formatCount(rows.length, "file")}, {formatBytes(bytes)}, about {formatCount(tokens, "token")}
          </p>
          <Instructions rows={rows} />
        </>
      )}
    </section>
  );
}

function Instructions({ rows }: { rows: InstructionRow[] }): VNode {
  const most = Math.max(1, ...rows.map(({ bytes }) => bytes));
  return (
    <ul class="files">
      {rows.map((row, at) => (
        <li key={`${at} ${row.path}`}>
          <details>
            <summary>
              <span class="file-path mono" dir="auto">
                {row.path}
              </span>
              <Tag>{row.source}</Tag>
              <span class="file-size">
                <Bar share={row.bytes / most} label={formatBytes(row.bytes)} tone="plain" />
                <span class="number">{formatBytes(row.bytes)}</span>
                <span class="number soft">≈ {row.tokens.toLocaleString()} tokens</span>
              </span>
              <span class="file-why soft" dir="auto">
                {row.reason}
              </span>
            </summary>
            <Sent text={row.text} label={`Text of ${row.path}`} />
          </details>
        </li>
      ))}
    </ul>
  );
}

interface TouchProps {
  touch: string;
  onChange: (touch: string) => void;
  onAsk: () => void;
  children: VNode | null;
}

function Touch({ touch, onChange, onAsk, children }: TouchProps): VNode {
  return (
    <section class="stack" aria-label="Touch a file">
      <h2>Touch a file</h2>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          onAsk();
        }}
      >
        <label for="touch">Path of a file that an agent reads or writes</label>
        <input
          id="touch"
          type="text"
          class="wide mono"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="src/server/routes.ts"
          value={touch}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </form>
      {children}
    </section>
  );
}

function Added({
  live,
  asked,
}: {
  live: { value: ContextAnswer | null; isLoading: boolean; failure: { message: string } | null };
  asked: string;
}): VNode {
  if (live.failure !== null)
    return (
      <Notice tone="bad">
        <p>{live.failure.message}</p>
      </Notice>
    );
  if (live.value === null) return <p class="waiting">Looking…</p>;
  const { added } = live.value;
  return (
    <div class="stack" aria-live="polite">
      <p>
        {added.length === 0 ? (
          <>
            Touching <code>{asked}</code> adds nothing to what is loaded.
          </>
        ) : (
          <>
            Touching <code>{asked}</code> adds {formatCount(added.length, "file")}:
          </>
        )}
      </p>
      {added.length === 0 ? null : <Instructions rows={added} />}
    </div>
  );
}

function IndexText({ index }: { index: ContextAnswer["index"] }): VNode {
  return (
    <section class="stack" aria-label="The index">
      <h2>The index</h2>
      {index === null ? (
        <p class="soft">There is no index yet: it comes with the first memory.</p>
      ) : (
        <>
          <p class="soft">
            {formatBytes(index.bytes)}
            {index.isCut ? "; it is cut at its cap, the rest is found by recall" : ", all of it is sent"}
          </p>
          <Sent text={index.text} label="Text of the index" />
        </>
      )}
    </section>
  );
}

function NotLoaded({ rows }: { rows: ContextAnswer["notLoaded"] }): VNode {
  return (
    <section class="stack" aria-label="Not loaded">
      <h2>Not loaded</h2>
      {rows.length === 0 ? (
        <p class="soft">Every instruction file that was found is loaded.</p>
      ) : (
        <Table
          caption="Instruction files that are not loaded, with the reason"
          columns={[
            { title: "File", cell: (row) => <span class="mono">{row.path}</span> },
            { title: "Reason", cell: (row) => row.reason },
          ]}
          rows={rows}
          keyOf={(row) => `${row.path} ${row.reason}`}
        />
      )}
    </section>
  );
}
