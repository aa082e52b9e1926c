/** What a model is shown: the recall inspector for a prompt, with its reasons, and the context that a host loads at start. */

import type { VNode } from "preact";
import type { ContextAnswer, InspectAnswer, InspectedMemory, InstructionRow, Reason } from "../../api.ts";
import { type Live, useLive } from "../live.ts";
import { Bar, Button, Field, List, MemoryLink, Soft, Tag, TypeTag } from "../parts/basics.tsx";
import { formatBytes, formatCount, keyOf } from "../parts/format.ts";
import { useAsked, useLast } from "../parts/hooks.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Answered, Empty, Heading, Page, PageHead, Section, Table } from "../parts/layout.tsx";
import { Failed, Lines } from "../parts/notice.tsx";
import { Sent } from "../parts/texts.tsx";
import { amend } from "../router.ts";

/** Long enough that a word is finished, short enough to feel like an answer to typing. */
const PAUSE_MS = 300;

const ADAPTERS = [
  ["hook", "a coding agent’s hook"],
  ["library", "a program with the library"],
] as const;

const NONE =
  "Recalled memories appear here, the most confident first, with a line at the threshold and the text that the model would get.";

export function RecallView({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked, askNow } = useAsked(params, "q", PAUSE_MS);
  const adapter = params.get("adapter") === "library" ? "library" : "hook";
  const isAsked = asked !== "";
  const live = useLive<InspectAnswer>(isAsked ? "/api/inspect" : null, { prompt: asked, adapter }, { isPosted: true });
  // The last answer stays until the next one arrives.
  const last = useLast(live.value);
  const answer = isAsked && live.failure === null ? last : null;
  const choose = (chosen: string) => amend({ adapter: chosen === "hook" ? null : chosen });
  return (
    <>
      <PageHead title="Recall" lead="The memories that a prompt would recall, the ones that come close, and why.">
        <JobButton kind="warm" title="Embed memories" />
      </PageHead>
      <form
        class="stack-s"
        onSubmit={(event) => {
          event.preventDefault();
          askNow();
        }}
      >
        <Field
          label="Prompt"
          class="plain-text"
          rows={3}
          spellcheck={false}
          placeholder="How do we deploy to staging?"
          value={typed}
          onInput={setTyped}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) askNow();
          }}
        />
        <div class="row row-wide">
          <Button type="submit" text="Recall" kind="primary" disabled={typed.trim() === ""} />
          <Field label="as asked by" fieldClass="row" options={ADAPTERS} value={adapter} onInput={choose} />
          <span class="soft small grow" role="status">
            {answer === null ? "" : live.isLoading ? "Looking…" : sumUp(answer)}
          </span>
        </div>
      </form>
      <Failed failure={live.failure}>
        <Button text="Try again" onClick={live.reload} />
      </Failed>
      {!isAsked ? <Empty title="No prompt yet" text={NONE} /> : answer === null ? null : <Inspection answer={answer} />}
    </>
  );
}

function Inspection({ answer }: { answer: InspectAnswer }): VNode {
  const { threshold, bytes, maxBytes, memories } = answer;
  const most = Math.max(1, threshold, ...memories.map(({ confidence }) => confidence));
  const hits = (outcome: InspectedMemory["outcome"]) => (
    <Hits outcome={outcome} memories={memories} threshold={threshold} most={most} />
  );
  return (
    <>
      <section class="stack" aria-label="Memories">
        {hits("shown")}
        {hits("no-room")}
        <p class="threshold small">
          <span>threshold {formatShare(threshold)}</span>
        </p>
        {hits("unsure")}
      </section>
      <Section title="What the model would get">
        <div class="budget row">
          <Bar share={maxBytes === 0 ? 0 : bytes / maxBytes} label={`${bytes} of ${maxBytes} bytes`} />
          <Soft text={`${formatBytes(bytes)} of ${formatBytes(maxBytes)} that this adapter allows`} />
        </div>
        {answer.text === "" ? (
          <Soft text="Nothing: the prompt is sent to the model unchanged." />
        ) : (
          <Sent text={answer.text} label="The text that is sent" />
        )}
      </Section>
    </>
  );
}

/** In the wording of the reasons. */
const METHODS: Record<string, string> = { lexical: "words", hybrid: "words and meaning", model: "a model" };

function sumUp({ considered, tookMs, method }: InspectAnswer): string {
  if (method.startsWith("not asked")) return method;
  return `${formatCount(considered, "memory", "memories")} ranked by ${METHODS[method] ?? method} in ${tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms`;
}

const OUTCOMES = {
  shown: {
    title: "Shown to the model",
    none: "No memory reaches the threshold for this prompt, so nothing is shown.",
  },
  "no-room": { title: "Above the threshold, but over the budget", none: "" },
  unsure: { title: "Nearly", none: "No memory came close." },
};

/** Shown at first; the rest is less relevant. */
const AT_FIRST = 8;

interface HitsProps {
  outcome: InspectedMemory["outcome"];
  memories: InspectedMemory[];
  threshold: number;
  /** The largest confidence of all: it fills its bar. */
  most: number;
}

function Hits({ outcome, memories, threshold, most }: HitsProps): VNode {
  const hits = memories.filter((memory) => memory.outcome === outcome);
  const { title, none } = OUTCOMES[outcome];
  if (hits.length === 0 && outcome !== "shown") return <Soft text={none} />;
  return (
    <>
      <Heading title={title} count={hits.length} />
      {hits.length === 0 ? <Soft text={none} /> : null}
      <List class="ruled" item={`hit hit-${outcome} stack-xs`} isOrdered rows={hits} keyOf={keyOf} first={AT_FIRST}>
        {(memory) => (
          <>
            <div class="row row-wide">
              <h3 class="grow">
                <MemoryLink memory={memory} />
              </h3>
              <p class="row soft small">
                <TypeTag type={memory.type} /> <Tag text={memory.scope} />
              </p>
              <Confidence confidence={memory.confidence} threshold={threshold} most={most} />
            </div>
            <Reasons reasons={memory.reasons} />
          </>
        )}
      </List>
    </>
  );
}

function formatShare(share: number): string {
  return share.toFixed(2);
}

/** A bar with a mark at the threshold. */
function Confidence({ confidence, threshold, most }: Record<"confidence" | "threshold" | "most", number>): VNode {
  const isSure = confidence >= threshold;
  const label = `confidence ${formatShare(confidence)}, ${isSure ? "above" : "below"} the threshold`;
  return (
    <div class="confidence row small">
      {formatShare(confidence)}
      <div>
        <Bar share={confidence / most} label={label} tone={isSure ? "accent" : "plain"} />
        <span style={{ insetInlineStart: `${(threshold / most) * 100}%` }} aria-hidden="true" />
      </div>
    </div>
  );
}

/** Each reason begins with its kind, which is already shown in front of it. */
const PREFIX = /^(words: |meaning: cue |meaning: |links: |age: )/;

function Reasons({ reasons }: { reasons: Reason[] }): VNode {
  return (
    <dl class="facts reasons small">
      {reasons.map(({ what, says, share }) => (
        <div key={`${what} ${says}`}>
          <dt>{what === "other" ? "note" : what}</dt>
          <dd class="row">
            {share === null ? null : <Bar share={share} label={`${what} ${formatShare(share)}`} />}
            <span dir="auto">{says.replace(PREFIX, "")}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

// --- The context: every instruction file, loaded or not, with the reason, and what touching a file would add.

const TOUCH_PAUSE_MS = 300;
const LEAD =
  "What the model is shown before the first prompt: instruction files in the order they are sent, and the index.";

export function ContextView({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked, askNow } = useAsked(params, "touch", TOUCH_PAUSE_MS);
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
