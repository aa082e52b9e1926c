/** The recall inspector: a prompt, the memories that would be shown and those that nearly were, each with its reasons. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { InspectAnswer, InspectedMemory, Reason } from "../../api.ts";
import { changes } from "../live.ts";
import { Bar, Button, MemoryLink, Tag, TextField, TypeTag } from "../parts/basics.tsx";
import { formatBytes, formatCount, keyOf } from "../parts/format.ts";
import { useAnswer, useFirst, useLater } from "../parts/hooks.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Empty, Heading, PageHead, Section } from "../parts/layout.tsx";
import { Failed } from "../parts/notice.tsx";
import { Sent } from "../parts/texts.tsx";
import { send } from "../remote.ts";
import { amend } from "../router.ts";
import { useStore } from "../store.ts";

type Adapter = InspectAnswer["adapter"];

/** Long enough that a word is finished, short enough to feel like an answer to typing. */
const PAUSE_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const [prompt, setPrompt] = useState(params.get("q") ?? "");
  const [adapter, setAdapter] = useState<Adapter>(params.get("adapter") === "library" ? "library" : "hook");
  const [asked, askNow] = useLater(prompt, PAUSE_MS);
  const isAsked = asked.trim() !== "";
  const version = useStore(changes);
  const {
    value: answer,
    failure,
    isLoading,
  } = useAnswer(
    isAsked ? (signal) => send<InspectAnswer>("POST", "/api/inspect", { prompt: asked, adapter }, signal) : null,
    [asked, adapter, version],
  );
  useEffect(() => {
    const shown = adapter === "hook" ? null : adapter;
    if ((params.get("q") ?? "") !== asked || params.get("adapter") !== shown) amend({ q: asked, adapter: shown });
  }, [asked, adapter]);
  return (
    <>
      <PageHead title="Recall" lead="The memories that a prompt would recall, the ones that come close, and why.">
        <JobButton kind="warm" title="Embed memories" busy="Embedding memories…" />
      </PageHead>
      <form
        class="prompt"
        onSubmit={(event) => {
          event.preventDefault();
          askNow(prompt);
        }}
      >
        <TextField
          label="Prompt"
          rows={3}
          spellcheck={false}
          placeholder="How do we deploy to staging?"
          value={prompt}
          onInput={setPrompt}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) askNow(prompt);
          }}
        />
        <div class="row">
          <button type="submit" class="button button-primary" disabled={prompt.trim() === ""}>
            Recall
          </button>
          <AdapterChoice adapter={adapter} onChange={setAdapter} />
          <span class="soft small grow" role="status">
            {answer === null || !isAsked ? "" : isLoading ? "Looking…" : sumUp(answer)}
          </span>
        </div>
      </form>
      <Failed failure={failure}>
        <Button onClick={() => askNow(`${prompt} `)}>Try again</Button>
      </Failed>
      {!isAsked ? (
        <Empty title="No prompt yet">
          <p>
            Recalled memories appear here, the most confident first, with a line at the threshold and the text that the
            model would get.
          </p>
        </Empty>
      ) : answer !== null ? (
        <Inspection answer={answer} />
      ) : null}
    </>
  );
}

function AdapterChoice({ adapter, onChange }: { adapter: Adapter; onChange: (adapter: Adapter) => void }): VNode {
  return (
    <label class="row">
      <span class="soft">as asked by</span>
      <select value={adapter} onChange={(event) => onChange(event.currentTarget.value as Adapter)}>
        <option value="hook">a coding agent’s hook</option>
        <option value="library">a program with the library</option>
      </select>
    </label>
  );
}

function Inspection({ answer }: { answer: InspectAnswer }): VNode {
  const { threshold, bytes, maxBytes } = answer;
  const most = Math.max(1, threshold, ...answer.memories.map(({ confidence }) => confidence));
  const hits = (outcome: InspectedMemory["outcome"], title: string, none: string | null) => {
    const memories = answer.memories.filter((memory) => memory.outcome === outcome);
    return (
      <>
        {memories.length === 0 && outcome !== "shown" ? null : <Heading title={title} count={memories.length} />}
        {memories.length > 0 ? (
          <Hits memories={memories} threshold={threshold} most={most} />
        ) : none === null ? null : (
          <p class="soft">{none}</p>
        )}
      </>
    );
  };
  return (
    <>
      <section class="stack" aria-label="Memories">
        {hits("shown", "Shown to the model", "No memory reaches the threshold for this prompt, so nothing is shown.")}
        {hits("no-room", "Above the threshold, but over the budget", null)}
        <p class="threshold">
          <span>threshold {formatShare(threshold)}</span>
        </p>
        {hits("unsure", "Nearly", "No memory came close.")}
      </section>
      <Section title="What the model would get">
        <div class="budget">
          <Bar share={maxBytes === 0 ? 0 : bytes / maxBytes} label={`${bytes} of ${maxBytes} bytes`} />
          <p class="soft">
            {formatBytes(bytes)} of {formatBytes(maxBytes)} that this adapter allows
          </p>
        </div>
        {answer.text === "" ? (
          <p class="soft">Nothing: the prompt is sent to the model unchanged.</p>
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

/** Shown at first; the rest is less relevant. */
const AT_FIRST = 8;

/** Each reason begins with its kind, which is already shown in front of it. */
const PREFIX = /^(words: |meaning: cue |meaning: |links: |age: )/;

interface HitsProps {
  memories: InspectedMemory[];
  threshold: number;
  /** The largest confidence of all: it fills its bar. */
  most: number;
}

function Hits({ memories, threshold, most }: HitsProps): VNode {
  const [shown, more] = useFirst(memories, AT_FIRST, memories.length);
  return (
    <>
      <ol class="hits">
        {shown.map((memory) => (
          <li key={keyOf(memory)} class={`hit hit-${memory.outcome}`}>
            <div class="hit-head">
              <h3>
                <MemoryLink memory={memory} />
              </h3>
              <p class="row soft small">
                <TypeTag type={memory.type} /> <Tag>{memory.scope}</Tag>
              </p>
              <Confidence confidence={memory.confidence} threshold={threshold} most={most} />
            </div>
            <Reasons reasons={memory.reasons} />
          </li>
        ))}
      </ol>
      {more === null ? null : <Button onClick={more}>{`Show ${memories.length - shown.length} more`}</Button>}
    </>
  );
}

function formatShare(share: number): string {
  return share.toFixed(2);
}

/** A bar with a mark at the threshold. */
function Confidence({ confidence, threshold, most }: Record<"confidence" | "threshold" | "most", number>): VNode {
  const isSure = confidence >= threshold;
  return (
    <div class="confidence">
      <span class="number">{formatShare(confidence)}</span>
      <div class="confidence-bar">
        <Bar
          share={confidence / most}
          label={`confidence ${formatShare(confidence)}, ${isSure ? "above" : "below"} the threshold`}
          tone={isSure ? "accent" : "plain"}
        />
        <span class="mark" style={{ insetInlineStart: `${(threshold / most) * 100}%` }} aria-hidden="true" />
      </div>
    </div>
  );
}

function Reasons({ reasons }: { reasons: Reason[] }): VNode | null {
  if (reasons.length === 0) return null;
  return (
    <dl class="reasons">
      {reasons.map((reason) => (
        <div key={`${reason.what} ${reason.says}`}>
          <dt>{reason.what === "other" ? "note" : reason.what}</dt>
          <dd class="reason-bar">
            {reason.share === null ? null : (
              <Bar share={reason.share} label={`${reason.what} ${formatShare(reason.share)}`} />
            )}
          </dd>
          <dd class="reason-says" dir="auto">
            {reason.says.replace(PREFIX, "")}
          </dd>
        </div>
      ))}
    </dl>
  );
}
