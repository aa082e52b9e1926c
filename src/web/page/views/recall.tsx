/** The recall inspector: a prompt, the memories that would be shown and those that nearly were, each with its reasons. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { InspectAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { Bar } from "../parts/bar.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { formatBytes, formatCount } from "../parts/format.ts";
import { JobButton } from "../parts/job-button.tsx";
import { useLater } from "../parts/later.ts";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Sent } from "../parts/sent.tsx";
import { type Failure, send } from "../remote.ts";
import { amend } from "../router.ts";
import { useStore } from "../store.ts";
import { formatShare, Hits } from "./recall-hits.tsx";

type Door = InspectAnswer["door"];

/** Long enough that a word is finished, short enough to feel like an answer to typing. */
const PAUSE_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const [prompt, setPrompt] = useState(params.get("q") ?? "");
  const [door, setDoor] = useState<Door>(params.get("door") === "library" ? "library" : "hook");
  const [asked, askNow] = useLater(prompt, PAUSE_MS);
  const { answer, failure, isLoading } = useInspection(asked, door);
  useEffect(() => {
    const shown = door === "hook" ? null : door;
    if ((params.get("q") ?? "") !== asked || params.get("door") !== shown) amend({ q: asked, door: shown });
  }, [asked, door]);
  return (
    <>
      <PageHead title="Recall" lead="What an agent would be reminded of by a prompt, what it nearly would, and why.">
        <JobButton kind="warm" title="Learn meanings" busy="Learning meanings…" />
      </PageHead>
      <form
        class="prompt"
        onSubmit={(event) => {
          event.preventDefault();
          askNow(prompt);
        }}
      >
        <div class="field">
          <label for="recall-prompt">Prompt</label>
          <textarea
            id="recall-prompt"
            rows={3}
            dir="auto"
            spellcheck={false}
            placeholder="How do we deploy to staging?"
            value={prompt}
            onInput={(event) => setPrompt(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) askNow(prompt);
            }}
          />
        </div>
        <div class="row">
          <button type="submit" class="button button-primary" disabled={prompt.trim() === ""}>
            Recall
          </button>
          <DoorChoice door={door} onChange={setDoor} />
          <span class="soft grow" role="status">
            {answer === null || asked.trim() === "" ? "" : isLoading ? "Looking…" : sumUp(answer)}
          </span>
        </div>
      </form>
      {failure === null ? null : (
        <Notice tone="bad">
          <p>{failure.message}</p>
          <Button onClick={() => askNow(`${prompt} `)}>Try again</Button>
        </Notice>
      )}
      {asked.trim() === "" || answer === null ? (
        <Nothing isAsked={asked.trim() !== ""} />
      ) : (
        <Inspection answer={answer} />
      )}
    </>
  );
}

/** The answer to the last prompt stays until the next one is there. */
function useInspection(prompt: string, door: Door) {
  const version = useStore(changes);
  const [state, setState] = useState<{ answer: InspectAnswer | null; failure: Failure | null; isLoading: boolean }>({
    answer: null,
    failure: null,
    isLoading: false,
  });
  useEffect(() => {
    if (prompt.trim() === "") return setState({ answer: null, failure: null, isLoading: false });
    const calling = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    send<InspectAnswer>("POST", "/api/recall", { prompt, door }, calling.signal).then(({ value, failure }) => {
      if (!calling.signal.aborted) setState({ answer: value, failure, isLoading: false });
    });
    return () => calling.abort();
  }, [prompt, door, version]);
  return state;
}

function DoorChoice({ door, onChange }: { door: Door; onChange: (door: Door) => void }): VNode {
  return (
    <label class="row">
      <span class="soft">as asked by</span>
      <select value={door} onChange={(event) => onChange(event.currentTarget.value as Door)}>
        <option value="hook">a coding agent’s hook</option>
        <option value="library">a program with the library</option>
      </select>
    </label>
  );
}

function Nothing({ isAsked }: { isAsked: boolean }): VNode | null {
  if (isAsked) return null;
  return (
    <Empty title="Nothing is asked yet">
      <p>
        The memories come here, the surest first, with a line where the threshold lies and the text that the model would
        get.
      </p>
    </Empty>
  );
}

function Inspection({ answer }: { answer: InspectAnswer }): VNode {
  const most = Math.max(1, answer.threshold, ...answer.memories.map(({ confidence }) => confidence));
  const shown = answer.memories.filter(({ outcome }) => outcome === "shown");
  const noRoom = answer.memories.filter(({ outcome }) => outcome === "no-room");
  const unsure = answer.memories.filter(({ outcome }) => outcome === "unsure");
  return (
    <>
      <section class="stack" aria-label="Memories">
        <h2>
          Shown to the model <span class="soft">{shown.length}</span>
        </h2>
        {shown.length === 0 ? (
          <p class="soft">No memory is sure enough to be shown for this prompt. Nothing is better than noise.</p>
        ) : (
          <Hits memories={shown} threshold={answer.threshold} most={most} />
        )}
        {noRoom.length === 0 ? null : (
          <>
            <h2>
              Sure enough, but no room <span class="soft">{noRoom.length}</span>
            </h2>
            <Hits memories={noRoom} threshold={answer.threshold} most={most} />
          </>
        )}
        <p class="threshold">
          <span>threshold {formatShare(answer.threshold)}</span>
        </p>
        {unsure.length === 0 ? (
          <p class="soft">Nothing came near.</p>
        ) : (
          <>
            <h2>
              Nearly <span class="soft">{unsure.length}</span>
            </h2>
            <Hits memories={unsure} threshold={answer.threshold} most={most} />
          </>
        )}
      </section>
      <section class="stack" aria-label="What the model would get">
        <h2>What the model would get</h2>
        <div class="budget">
          <Bar
            share={answer.maxBytes === 0 ? 0 : answer.bytes / answer.maxBytes}
            label={`${answer.bytes} of ${answer.maxBytes} bytes`}
          />
          <p class="soft">
            {formatBytes(answer.bytes)} of {formatBytes(answer.maxBytes)} that this door gives
          </p>
        </div>
        {answer.text === "" ? (
          <p class="soft">Nothing: the prompt goes to the model as it is.</p>
        ) : (
          <Sent text={answer.text} label="The text that is sent" />
        )}
      </section>
    </>
  );
}

/** In the words that the reasons have. */
const METHODS: Record<string, string> = { lexical: "words", hybrid: "words and meaning", model: "a model" };

function sumUp({ considered, tookMs, method }: InspectAnswer): string {
  if (method.startsWith("not asked")) return method;
  return `${formatCount(considered, "memory", "memories")} looked at by ${METHODS[method] ?? method} in ${tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms`;
}
