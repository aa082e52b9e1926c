/** Recall: what a model is shown for a prompt, with the reasons in words, and what a host loads at the start. */

import type { VNode } from "preact";
import type { ContextAnswer, InspectAnswer, InspectedMemory, InstructionRow } from "../../api.ts";
import { useLive } from "../live.ts";
import { Bar, Button, Field, Form, List, MemoryLink, Soft, Tag, TypeTag } from "../parts/basics.tsx";
import { formatBytes, formatCount, keyOf } from "../parts/format.ts";
import { useAsked } from "../parts/hooks.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Answered, Empty, Heading, Modes, PageHead, Section, Table } from "../parts/layout.tsx";
import { Failed, Lines } from "../parts/notice.tsx";
import { Markdown, Sent } from "../parts/texts.tsx";
import { amend } from "../router.ts";

/** Long enough that a word is finished, short enough to feel like an answer to typing. */
const PAUSE_MS = 300;

const ADAPTERS = [
  ["hook", "a coding agent’s hook"],
  ["library", "a program with the library"],
] as const;

const MODES = { "For a prompt": null, "At the start": "context" };

export function RecallView({ params }: { params: URLSearchParams }): VNode {
  return (
    <>
      <PageHead title="Recall" lead="What the model is given, and why.">
        <JobButton kind="warm" title="Embed memories" />
      </PageHead>
      <Modes label="What is shown" view="recall" by="tab" modes={MODES} />
      {params.get("tab") === "context" ? <Context params={params} /> : <Prompt params={params} />}
    </>
  );
}

const NONE =
  "Write a prompt as you would to an agent. What it would recall appears here, with the reasons, beside the text that the model would get.";

function Prompt({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked, askNow } = useAsked(params, "q", PAUSE_MS);
  const adapter = params.get("adapter") === "library" ? "library" : "hook";
  const isAsked = asked !== "";
  const how = { isPosted: true, isSteady: true };
  const live = useLive<InspectAnswer>(isAsked ? "/api/inspect" : null, { prompt: asked, adapter }, how);
  const answer = isAsked && live.failure === null ? live.value : null;
  const choose = (chosen: string) => amend({ adapter: chosen === "hook" ? null : chosen });
  return (
    <>
      <Form class="stack-s" onSubmit={askNow}>
        <Field
          label="Prompt"
          class="plain-text"
          rows={3}
          spellcheck={false}
          placeholder="How do we deploy to staging?"
          value={typed}
          onInput={setTyped}
        />
        <div class="row row-wide">
          <Button type="submit" text="Recall" kind="primary" disabled={typed.trim() === ""} />
          <Field label="as asked by" fieldClass="row" options={ADAPTERS} value={adapter} onInput={choose} />
          <span class="soft small grow" role="status">
            {answer === null ? "" : live.isLoading ? "Looking…" : sumUp(answer)}
          </span>
        </div>
      </Form>
      <Failed failure={live.failure}>
        <Button text="Try again" onClick={live.reload} />
      </Failed>
      {!isAsked ? <Empty title="No prompt yet" text={NONE} /> : answer === null ? null : <Inspection answer={answer} />}
    </>
  );
}

/** Below it a memory has next to nothing to do with the prompt. */
const NEARLY = 0.25;

function Inspection({ answer }: { answer: InspectAnswer }): VNode {
  const { bytes, maxBytes, memories } = answer;
  const of = (outcome: InspectedMemory["outcome"]) => memories.filter((memory) => memory.outcome === outcome);
  const unsure = of("unsure");
  const nearly = unsure.filter(({ confidence }) => confidence >= NEARLY);
  return (
    <div class="two">
      <section class="stack" aria-label="Memories">
        <Hits
          title="Shown to the model"
          none="Nothing is shown: no memory is close enough to this prompt."
          hits={of("shown")}
        />
        <Hits title="Close enough, but there was no room" hits={of("no-room")} />
        <Hits title="Nearly shown" hits={nearly} />
        {unsure.length > nearly.length ? (
          <Soft
            text={`${formatCount(unsure.length - nearly.length, "other memory has", "other memories have")} next to nothing in common with it.`}
          />
        ) : null}
      </section>
      <Section title="What the model would get">
        <div class="budget row">
          <Bar share={maxBytes === 0 ? 0 : bytes / maxBytes} label={`${bytes} of ${maxBytes} bytes`} />
          <Soft text={`${formatBytes(bytes)} of ${formatBytes(maxBytes)}`} />
        </div>
        {answer.text === "" ? (
          <Soft text="Nothing: the prompt is sent to the model unchanged." />
        ) : (
          <Sent text={answer.text} label="The text that is sent" />
        )}
      </Section>
    </div>
  );
}

/** In the wording of the reasons. */
const METHODS: { [method: string]: string } = { lexical: "words", hybrid: "words and meaning", model: "a model" };

function sumUp({ considered, tookMs, method }: InspectAnswer): string {
  if (method.startsWith("skipped")) return `Recall was ${method}.`;
  return `${formatCount(considered, "memory", "memories")} ranked by ${METHODS[method] ?? method} in ${tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms`;
}

/** What became of it, in words. */
const SAYS: Record<InspectedMemory["outcome"], string> = {
  shown: "Shown.",
  "no-room": "Not shown: the budget was used up by closer ones.",
  unsure: "Not shown: too little in common with the prompt.",
};

/** Shown at first; the rest is less relevant. */
const AT_FIRST = 8;

function Hits({ title, none = "", hits }: { title: string; none?: string; hits: InspectedMemory[] }): VNode | null {
  if (hits.length === 0) return none === "" ? null : <Soft text={none} />;
  return (
    <section class="stack-xs" aria-label={title}>
      <Heading title={title} count={hits.length} />
      <List class="ruled" item="hit stack-xs" isOrdered rows={hits} keyOf={keyOf} first={AT_FIRST}>
        {(memory) => (
          <>
            <div class="row row-wide">
              <h3 class="grow">
                <MemoryLink memory={memory} />
              </h3>
              <p class="row soft small">
                <TypeTag type={memory.type} /> <Tag text={memory.scope} />
              </p>
              <Confidence memory={memory} />
            </div>
            <p class="small" dir="auto">
              {SAYS[memory.outcome]} <span class="soft">{memory.reasons.join(" ")}</span>
            </p>
          </>
        )}
      </List>
    </section>
  );
}

/** From 0 to 1, with a mark where memories begin to be shown. */
function Confidence({ memory: { confidence } }: { memory: InspectedMemory }): VNode {
  const isSure = confidence >= 0.5;
  const label = `confidence ${confidence.toFixed(2)} of 1; shown from 0.5 on`;
  return (
    <div class="confidence row small" title={label}>
      {confidence.toFixed(2)}
      <div style={{ width: "8rem" }}>
        <Bar share={confidence} label={label} tone={isSure ? "accent" : "plain"} />
        <span style={{ inset: "-3px auto -3px 50%", width: "2px", background: "var(--ink)" }} aria-hidden="true" />
      </div>
    </div>
  );
}

// --- The context: every instruction file, loaded or not, with the reason, and what touching a file would add.

function Context({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked, askNow } = useAsked(params, "touch", PAUSE_MS);
  const live = useLive<ContextAnswer>("/api/context", { touch: asked }, { isSteady: true });
  return (
    <Answered live={live}>
      {({ warnings, loaded, added, index, notLoaded }) => (
        <>
          <Lines lines={warnings} />
          <Loaded rows={loaded} />
          <Section title="What a file adds">
            <Form onSubmit={askNow}>
              <Field
                label="When an agent reads or writes this file"
                class="mono"
                autocapitalize="off"
                spellcheck={false}
                placeholder="src/server/routes.ts"
                value={typed}
                onInput={setTyped}
              />
            </Form>
            {asked === "" ? null : (
              <div class="stack" aria-live="polite">
                <p>
                  Reading <code>{asked}</code> adds{" "}
                  {added.length === 0 ? "nothing to what is loaded." : `${formatCount(added.length, "file")}:`}
                </p>
                <Instructions rows={added} />
              </div>
            )}
          </Section>
          <IndexText index={index} />
          <Section title="Not loaded">
            <Table
              caption="Instruction files that are not loaded, with the reason"
              none="Every instruction file that was found is loaded."
              columns={[
                { title: "File", cell: (row) => <span class="mono">{row.path}</span> },
                { title: "Reason", cell: (row) => row.reason },
              ]}
              rows={notLoaded}
              keyOf={(row) => `${row.path} ${row.reason}`}
            />
          </Section>
        </>
      )}
    </Answered>
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
            <span class="row small" style={{ display: "grid", gridTemplateColumns: "6rem 4rem 7.5rem" }}>
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

function IndexText({ index }: { index: ContextAnswer["index"] }): VNode {
  const how = index?.isCut ? "; it is cut at its limit, and the rest is found by recall" : ", sent completely";
  return (
    <Section title="The index">
      {index === null ? (
        <Soft text="There is no index yet. It is created with the first memory." />
      ) : (
        <>
          <Soft text={formatBytes(index.bytes) + how} />
          <div class="paper">
            <Markdown nodes={index.body} />
          </div>
        </>
      )}
    </Section>
  );
}
