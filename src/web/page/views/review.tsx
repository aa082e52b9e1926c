/** Review: everything that waits for a person in one queue, the chosen item in detail, and a key for each verb. */

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { REVIEW_KINDS, type ReviewAnswer, type ReviewDetail, type ReviewItem, type ReviewVerb } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { changes, jobs, useLive, useStart } from "../live.ts";
import { Age, Button, type ButtonProps, goToMemory, List, TextButton } from "../parts/basics.tsx";
import { tellChanged } from "../parts/change.ts";
import { showName, toggle } from "../parts/format.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Answered, Choices, Empty, Page } from "../parts/layout.tsx";
import { mergeParts, type Pick, suggestPicks } from "../parts/merge-text.ts";
import { endOffer, tellFailure } from "../parts/notice.tsx";
import { amend } from "../router.ts";
import { useStore } from "../store.ts";
import { ItemBody, ItemHead, KINDS, ProposalForm } from "./review-item.tsx";
import { askCue, perform, sumUp, VERBS } from "./review-verbs.ts";

export function ReviewView({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<ReviewAnswer>("/api/review");
  const actions = (
    <>
      <JobButton kind="verify" title="Check memories" />
      <JobButton kind="dream" title="Plan a dream" />
    </>
  );
  return (
    <Page title="Review" live={live} actions={actions}>
      {(review) => <Queue review={review} params={params} />}
    </Page>
  );
}

function Queue({ review, params }: { review: ReviewAnswer; params: URLSearchParams }): VNode {
  const { readOnly } = useStart();
  const { gone, decide } = useDecisions();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [isWriting, setWriting] = useState(false);
  /** Of the two texts of the current item; null as suggested. */
  const [picks, setPicks] = useState<Pick[] | null>(null);
  const kind = params.get("kind");
  const waiting = review.items.filter(({ id }) => !gone.has(id));
  const items = kind === null ? waiting : waiting.filter((item) => item.kind === kind);
  const kinds = [null, ...REVIEW_KINDS.filter((each) => review.counts[each] > 0)].map((each) => ({
    value: each as string | null,
    title: each === null ? "All" : KINDS[each].title,
    count: waiting.filter((item) => each === null || item.kind === each).length,
  }));
  const place = useRef(0);
  const found = items.findIndex(({ id }) => id === params.get("id"));
  const at = found >= 0 ? found : Math.min(place.current, items.length - 1);
  const current = items[at] ?? null;
  place.current = Math.max(0, at);
  const detail = useLive<ReviewDetail>(current === null ? null : "/api/review/item", { id: current?.id ?? "" });
  /** The base of each item as it was last shown, so that no other text is accepted than that. */
  const seen = useRef(new Map<string, string>());
  if (current && detail.value?.base) seen.current.set(current.id, detail.value.base);
  const list = useRef<HTMLDivElement>(null);
  const isMoved = useRef(false);
  const chosen = items.filter(({ id }) => picked.has(id));
  useLayoutEffect(() => {
    setWriting(false);
    setPicks(null);
  }, [current?.id]);
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>("[aria-current]");
    row?.scrollIntoView({ block: "nearest" });
    // Only after a key: the focus of a person who reads the item on the right stays there.
    if (isMoved.current) row?.focus({ preventScroll: true });
    isMoved.current = false;
  }, [current?.id]);

  const parts = detail.value?.changes[0]?.parts ?? [];
  const picksNow = picks ?? suggestPicks(parts);

  const run = (on: ReviewItem[], verb: ReviewVerb, more: object = {}) => {
    setWriting(false);
    setPicked(new Set());
    const isLeft = (item: ReviewItem) => !on.includes(item);
    if (VERBS[verb].decides) {
      amend({ id: (items.find((item, nth) => nth > at && isLeft(item)) ?? items.findLast(isLeft))?.id ?? null });
      isMoved.current = true;
    }
    void decide(on, verb, ({ id }) => (verb === "accept" ? { base: seen.current.get(id), ...more } : more));
  };

  /** A verb on what is picked, or on the current item; those that do not fit stay. */
  const act = (verb: ReviewVerb) => {
    const on = (chosen.length > 0 ? chosen : current ? [current] : []).filter(({ verbs }) => verbs.includes(verb));
    const [only] = on;
    if (only === undefined) return;
    if (verb === "open" && only.memory) goToMemory(only.memory);
    else if (verb === "edit" && only.kind !== "proposal" && only.memory) goToMemory(only.memory, "edit");
    else if (verb === "edit") setWriting(true);
    else if (verb === "cue") askCue((cue) => run([only], verb, { cue }));
    else if (verb === "merge") {
      if (only === current && detail.value?.texts)
        run([only], verb, { text: mergeParts(parts, picksNow), ...detail.value.texts });
    } else run(on, verb);
  };
  const press = (event: KeyboardEvent) => {
    const offered = [current, ...chosen].flatMap((item) => item?.verbs ?? []);
    // The usual verb, whatever it is.
    const isUsual = event.key === VERBS.accept.key;
    const verb = isUsual ? offered[0] : offered.find((each) => VERBS[each].key === event.key);
    if (verb === undefined || (verb === "open" && (isUsual || isPressed(event.target)))) return;
    event.preventDefault();
    act(verb);
  };
  const turn = ({ id }: ReviewItem) => setPicked(new Set(toggle(picked, id)));
  const step = (by: number) => (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement && event.target.type === "radio") return;
    event.preventDefault();
    isMoved.current = true;
    const item = items[Math.min(items.length - 1, Math.max(0, at + by))];
    if (item) amend({ id: item.id });
  };
  useKeys({
    ...{ j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1) },
    ...Object.fromEntries(Object.values(VERBS).map(({ key }) => [key, press])),
    x: () => current && turn(current),
    X: () => setPicked(new Set(items.filter((item) => item.kind === current?.kind).map(({ id }) => id))),
    Escape: () => (isWriting ? setWriting(false) : picked.size > 0 ? setPicked(new Set()) : amend({ id: null })),
  });
  if (waiting.length === 0) return <AllDone review={review} />;
  return (
    <div class={`review two${params.has("id") ? " has-item" : ""}`}>
      <section class="review-list" aria-label="Waiting">
        <Choices
          label="Kinds"
          choices={kinds}
          isChosen={(each) => each === kind}
          onChoose={(each) => amend({ kind: each, id: null })}
        />
        <div ref={list} class="card" style={{ overflowY: "auto", minHeight: "8rem", padding: 0 }}>
          {REVIEW_KINDS.map((each) => (
            <Group
              key={each}
              kind={each}
              items={items.filter((item) => item.kind === each)}
              {...{ current, picked }}
              onTurn={turn}
            />
          ))}
        </div>
        {chosen.length > 0 ? (
          <div class="selection row" role="status">
            <strong class="grow">{chosen.length} selected</strong>
            <Verbs verbs={batchVerbs(chosen)} onAct={act} isSmall />
          </div>
        ) : null}
      </section>
      {current === null ? (
        <Empty title="Nothing of this kind waits" />
      ) : (
        <article class="review-item stack" aria-label={current.title}>
          <p class="only-narrow">
            <TextButton text="← All that waits" onClick={() => amend({ id: null })} />
          </p>
          <ItemHead item={current} detail={detail.value} />
          {readOnly ? null : (
            <div class="row verbs">
              <Verbs verbs={current.verbs} onAct={act} first="primary" />
            </div>
          )}
          <Answered live={detail}>
            {(shown) =>
              isWriting && shown.words !== null ? (
                <ProposalForm
                  words={shown.words}
                  base={shown.base}
                  onAccept={(written) => run([current], "accept", written)}
                  onCancel={() => setWriting(false)}
                />
              ) : (
                <ItemBody
                  item={current}
                  detail={shown}
                  picks={picksNow}
                  onPick={(nth, pick) => setPicks(picksNow.with(nth, pick))}
                />
              )
            }
          </Answered>
        </article>
      )}
    </div>
  );
}

/** Items leave at once; one whose change failed or was undone comes back. */
function useDecisions() {
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const decide = async (on: ReviewItem[], verb: ReviewVerb, moreOf: (item: ReviewItem) => object) => {
    const ids = on.map(({ id }) => id);
    if (VERBS[verb].decides) setGone((now) => new Set([...now, ...ids]));
    const back = (some: string[]) => setGone((now) => new Set([...now].filter((id) => !some.includes(id))));
    const work = (async () => {
      const undos: (() => Promise<void>)[] = [];
      for (const item of on) {
        const { value, failure } = await perform(item, verb, moreOf(item));
        if (value !== null) undos.push(value);
        else {
          back([item.id]);
          tellFailure(failure);
        }
      }
      return undos;
    })();
    // Told at once: `u` waits for what it undoes.
    const offer = tellChanged(sumUp(verb, on), async () => {
      for (const undo of (await work).toReversed()) await undo();
      back(ids);
      amend({ id: ids[0] ?? null });
    });
    if ((await work).length === 0) endOffer(offer);
    changes.set(changes.get() + 1);
  };
  return { gone, decide };
}

/** Enter on a link or a button is theirs; on the row of the current item it opens it. */
function isPressed(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || target.closest("a, button") === null) return false;
  return target.closest(".review-row.is-current") === null;
}

/** What fits all that are picked; what needs a look at each is not done to several. */
function batchVerbs(items: readonly ReviewItem[]): ReviewVerb[] {
  const several: ReviewVerb[] = ["accept", "fix", "true", "skip", "pin", "forget"];
  return several.filter((verb) => items.some(({ verbs }) => verbs.includes(verb)));
}

interface VerbsProps {
  verbs: readonly ReviewVerb[];
  onAct: (verb: ReviewVerb) => void;
  /** How the first one looks. */
  first?: ButtonProps["kind"];
  isSmall?: boolean;
}

function Verbs({ verbs, onAct, first, isSmall }: VerbsProps): VNode {
  const buttons = verbs.map((verb, at) => {
    const { key, title } = VERBS[verb];
    const kind = (at === 0 && first) || (verb === "forget" ? "danger" : "plain");
    return (
      <Button key={verb} kind={kind} isSmall={isSmall} aria-keyshortcuts={key} onClick={() => onAct(verb)}>
        {title} <span class="key" aria-hidden="true" children={key === "Enter" ? "↵" : key} />
      </Button>
    );
  });
  return <>{buttons}</>;
}

interface GroupProps {
  kind: ReviewItem["kind"];
  items: ReviewItem[];
  current: ReviewItem | null;
  picked: ReadonlySet<string>;
  onTurn: (item: ReviewItem) => void;
}

function Group({ kind, items, current, picked, onTurn }: GroupProps): VNode | null {
  if (items.length === 0) return null;
  return (
    <section aria-label={KINDS[kind].title}>
      <h2 class="group-title small soft">
        {KINDS[kind].title} <span class="count">{items.length}</span>
      </h2>
      <List
        class="review-rows"
        rows={items}
        keyOf={({ id }) => id}
        first={kind === "cues" && current?.kind !== "cues" ? FEW : undefined}
      >
        {(item) => (
          <div class={`review-row row${item === current ? " is-current" : ""}`}>
            <input
              type="checkbox"
              aria-label={`Select ${item.title}`}
              checked={picked.has(item.id)}
              tabIndex={item === current ? 0 : -1}
              style={{ flex: "none", marginTop: "0.85rem" }}
              onChange={() => onTurn(item)}
            />
            <button
              type="button"
              class="bare"
              aria-current={item === current ? "true" : undefined}
              tabIndex={item === current ? 0 : -1}
              onClick={() => amend({ id: item.id })}
            >
              <bdi class="row-title">{showName(item.title)}</bdi>
              <span class="clamp soft small" dir="auto" children={item.says} />
            </button>
          </div>
        )}
      </List>
    </section>
  );
}

/** Of memories without cues, which may be all of them. */
const FEW = 8;

function AllDone({ review }: { review: ReviewAnswer }): VNode {
  const isDreaming = useStore(jobs).some(({ kind, state }) => kind === "dream" && state === "running");
  const { checked, dreamt } = review;
  return (
    <Empty title={isDreaming ? "A dream is being planned" : "Nothing waits for you"}>
      <p>
        Proposals from agents, steps of a dream, conflicts, duplicates, memories that are out of date and memories
        without cues appear here.
      </p>
      <p class="small">
        {checked === null ? (
          "Memories were never checked. "
        ) : (
          <>
            Memories were checked <Age at={checked} />.{" "}
          </>
        )}
        {dreamt === null ? (
          "No dream has run yet."
        ) : (
          <>
            The last dream was <Age at={dreamt} />.
          </>
        )}
      </p>
    </Empty>
  );
}
