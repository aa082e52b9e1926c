/** The context: every instruction file, loaded or not, with the reason, and what touching a file would add. */
import type { VNode } from "preact";
import type { ContextAnswer, InstructionRow } from "../../api.ts";
import { type Live, useLive } from "../live.ts";
import { Bar, Field, List, Soft, Tag } from "../parts/basics.tsx";
import { formatBytes, formatCount } from "../parts/format.ts";
import { useAsked, useLast } from "../parts/hooks.ts";
import { Answered, Empty, Page, Section, Table } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { Sent } from "../parts/texts.tsx";

const PAUSE_MS = 300;
const LEAD =
  "What the model is shown before the first prompt: instruction files in the order they are sent, and the index.";

export function View({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked, askNow } = useAsked(params, "touch", PAUSE_MS);
  const live = useLive<ContextAnswer>("/api/context", { touch: asked });
  const last = useLast(live.value);
  return (
    <Page title="Context" lead={LEAD} live={{ ...live, value: last }}>
      {({ warnings, loaded, index, notLoaded }) => (
        <>
          <Lines lines={warnings} />
          <Loaded rows={loaded} />
          <Section title="Touch a file">
            <form
              onSubmit={(event) => {
                event.preventDefault();
                askNow();
              }}
            >
              <Field
                label="Path of a file that an agent reads or writes"
                class="mono"
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                placeholder="src/server/routes.ts"
                value={typed}
                onInput={setTyped}
              />
            </form>
            {asked === "" ? null : <Added live={live} asked={asked} />}
          </Section>
          <IndexText index={index} />
          <NotLoaded rows={notLoaded} />
        </>
      )}
    </Page>
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
          <Soft
            text={`${formatCount(rows.length, "file")}, ${formatBytes(bytes)}, about ${formatCount(tokens, "token")}`}
          />
          <Instructions rows={rows} />
        </>
      )}
    </Section>
  );
}

function Instructions({ rows }: { rows: InstructionRow[] }): VNode {
  const most = Math.max(1, ...rows.map(({ bytes }) => bytes));
  return (
    <List class="ruled" rows={rows}>
      {({ path, source, bytes, tokens, reason, text }) => (
        <details class="stack-s">
          <summary class="row">
            <span class="grow mono" dir="auto" children={path} />
            <Tag text={source} />
            <span class="file-size small">
              <Bar share={bytes / most} label={formatBytes(bytes)} tone="plain" />
              <span class="number">{formatBytes(bytes)}</span>
              <span class="number soft">≈ {tokens.toLocaleString()} tokens</span>
            </span>
            <span class="wide soft small" dir="auto" children={reason} />
          </summary>
          <Sent text={text} label={`Text of ${path}`} />
        </details>
      )}
    </List>
  );
}

function Added({ live, asked }: { live: Live<ContextAnswer>; asked: string }): VNode {
  return (
    <Answered live={live}>
      {({ added }) => (
        <div class="stack" aria-live="polite">
          <p>
            Touching <code>{asked}</code> adds{" "}
            {added.length === 0 ? "nothing to what is loaded." : `${formatCount(added.length, "file")}:`}
          </p>
          {added.length === 0 ? null : <Instructions rows={added} />}
        </div>
      )}
    </Answered>
  );
}

function IndexText({ index }: { index: ContextAnswer["index"] }): VNode {
  if (index === null)
    return (
      <Section title="The index">
        <Soft text="There is no index yet. It is created with the first memory." />
      </Section>
    );
  const how = index.isCut ? "; it is cut at its limit, and the rest is found by recall" : ", sent completely";
  return (
    <Section title="The index">
      <Soft text={formatBytes(index.bytes) + how} />
      <Sent text={index.text} label="Text of the index" />
    </Section>
  );
}

function NotLoaded({ rows }: { rows: ContextAnswer["notLoaded"] }): VNode {
  return (
    <Section title="Not loaded">
      <Table
        caption="Instruction files that are not loaded, with the reason"
        none="Every instruction file that was found is loaded."
        columns={[
          { title: "File", cell: (row) => <span class="mono">{row.path}</span> },
          { title: "Reason", cell: (row) => row.reason },
        ]}
        rows={rows}
        keyOf={(row) => `${row.path} ${row.reason}`}
      />
    </Section>
  );
}
