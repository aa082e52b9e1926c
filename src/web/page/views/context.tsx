/** The context: every instruction file, loaded or not, with the reason, and what touching a file would add. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ContextAnswer, InstructionRow } from "../../api.ts";
import { type Live, useLive } from "../live.ts";
import { Bar, Tag, TextField } from "../parts/basics.tsx";
import { formatBytes, formatCount } from "../parts/format.ts";
import { useLast, useLater } from "../parts/hooks.ts";
import { Empty, PageHead, Section, Table, Waiting } from "../parts/layout.tsx";
import { Failed, Lines } from "../parts/notice.tsx";
import { Sent } from "../parts/texts.tsx";
import { amend } from "../router.ts";

const PAUSE_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const [touch, setTouch] = useState(params.get("touch") ?? "");
  const [asked, askNow] = useLater(touch.trim(), PAUSE_MS);
  const live = useLive<ContextAnswer>("/api/context", { touch: asked });
  const value = useLast(live.value);
  useEffect(() => {
    if ((params.get("touch") ?? "") !== asked) amend({ touch: asked });
  }, [asked]);
  return (
    <>
      <PageHead
        title="Context"
        lead="What the model is shown before the first prompt: instruction files in the order they are sent, and the index."
      />
      {value === null ? (
        <Waiting live={live} />
      ) : (
        <>
          <Lines lines={value.warnings} />
          <Loaded rows={value.loaded} />
          <Section title="Touch a file">
            <form
              onSubmit={(event) => {
                event.preventDefault();
                askNow(touch.trim());
              }}
            >
              <TextField
                label="Path of a file that an agent reads or writes"
                class="wide mono"
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                placeholder="src/server/routes.ts"
                value={touch}
                onInput={setTouch}
              />
            </form>
            {asked === "" ? null : <Added live={live} asked={asked} />}
          </Section>
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
    <Section title="Loaded">
      {rows.length === 0 ? (
        <Empty title="No instruction file is loaded">
          <p>
            A <code>CLAUDE.md</code> or <code>AGENTS.md</code> in the project, in your home directory or next to the
            code appears here.
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
    </Section>
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

function Added({ live, asked }: { live: Live<ContextAnswer>; asked: string }): VNode {
  if (live.failure !== null) return <Failed failure={live.failure} />;
  if (live.value === null) return <p class="waiting">Loading…</p>;
  const { added } = live.value;
  return (
    <div class="stack" aria-live="polite">
      <p>
        Touching <code>{asked}</code> adds{" "}
        {added.length === 0 ? "nothing to what is loaded." : `${formatCount(added.length, "file")}:`}
      </p>
      {added.length === 0 ? null : <Instructions rows={added} />}
    </div>
  );
}

function IndexText({ index }: { index: ContextAnswer["index"] }): VNode {
  return (
    <Section title="The index">
      {index === null ? (
        <p class="soft">There is no index yet. It is created with the first memory.</p>
      ) : (
        <>
          <p class="soft">
            {formatBytes(index.bytes)}
            {index.isCut ? "; it is cut at its limit, and the rest is found by recall" : ", sent completely"}
          </p>
          <Sent text={index.text} label="Text of the index" />
        </>
      )}
    </Section>
  );
}

function NotLoaded({ rows }: { rows: ContextAnswer["notLoaded"] }): VNode {
  return (
    <Section title="Not loaded">
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
    </Section>
  );
}
