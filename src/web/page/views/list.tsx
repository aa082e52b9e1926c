/** All memories: searched while typing, filtered and sorted by every column. */
import type { TargetedKeyboardEvent, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AGES, type ListedMemory, MEMORY_TYPES, type MemoryList, type SearchAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { changes, useLive, useStart } from "../live.ts";
import { Button, Field, List } from "../parts/basics.tsx";
import { formatCount } from "../parts/format.ts";
import { Answered, Empty, Loading, PageHead } from "../parts/layout.tsx";
import { get } from "../remote.ts";
import { amend, formatRoute, route } from "../router.ts";
import { useStore } from "../store.ts";
import { type Asked, orderRows, readAsked, type Sort, VERDICTS } from "./list-order.ts";
import { COLUMNS, MemoryTable } from "./list-table.tsx";

/** Browsers refuse to change the address with every keystroke. */
const ADDRESS_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<MemoryList>("/api/memories");
  const [q, setQ] = useState(params.get("q") ?? "");
  const ranking = useRanking(q);
  const { readOnly } = useStart();
  const asked = readAsked(params, q);
  useEffect(() => {
    if (q === (params.get("q") ?? "")) return;
    const waiting = setTimeout(() => amend({ q }), ADDRESS_MS);
    return () => clearTimeout(waiting);
  }, [q]);
  // A person who opens a memory within that time finds their query when they come back.
  const keepWords = () => {
    if (route.get().view === "memories") amend({ q });
  };
  const all = live.value?.rows;
  const rows = useMemo(
    () => orderRows(all ?? [], asked, ranking.hits),
    [all, ranking.hits, q, asked.type, asked.scope, asked.verdict, asked.age, asked.sort, asked.isReversed],
  );
  const sortBy = (sort: Sort) =>
    amend(sort === asked.sort ? { sort, reversed: asked.isReversed ? null : true } : { sort, reversed: null });
  const clear = () => {
    setQ("");
    amend({ q: null, type: null, scope: null, verdict: null, age: null });
  };
  return (
    <>
      <PageHead title="Memories" lead={all === undefined ? undefined : saysCount(rows.length, all.length)}>
        {readOnly ? null : <Button text="New memory" href={formatRoute("new")} />}
      </PageHead>
      <div class="row">
        <SearchField q={q} onInput={setQ} onLeave={keepWords} wantsFocus={params.get("focus") === "search"} />
        <Filters rows={all ?? []} asked={asked} onSort={sortBy} />
      </div>
      <Answered live={live}>
        {(listed) => (
          <>
            {rows.length === 0 ? (
              <NothingFound isEmpty={listed.rows.length === 0} isSearching={ranking.isSearching} onClear={clear} />
            ) : (
              <MemoryTable rows={rows} sort={asked.sort} isReversed={asked.isReversed} onSort={sortBy} />
            )}
            <Skipped skipped={listed.skipped} />
          </>
        )}
      </Answered>
    </>
  );
}

/** The gap between two keys of a fast typist, so that a burst is searched once. */
const PAUSE_MS = 60;
/** After the last key: finding the meaning of words takes the server longer than a keystroke. */
const REST_MS = 300;

interface Ranking {
  /** Null: not ranked yet. The last ranking stays until the next one arrives, so that the list does not jump twice. */
  hits: SearchAnswer["hits"] | null;
  isSearching: boolean;
}

/** With every key by the words alone, and by the real ranking after the last one. */
function useRanking(q: string): Ranking {
  const words = q.trim();
  const version = useStore(changes);
  const [ranked, setRanked] = useState<{ q: string; hits: SearchAnswer["hits"] } | null>(null);
  useEffect(() => {
    if (words === "") {
      setRanked(null);
      return;
    }
    const calling = new AbortController();
    let isRanked = false;
    const ask = async (quick: boolean) => {
      const { value } = await get<SearchAnswer>("/api/search", { q: words, quick: quick || null }, calling.signal);
      if (calling.signal.aborted || (quick && isRanked)) return;
      isRanked ||= !quick;
      setRanked(value === null ? null : { q: words, hits: value.hits });
    };
    const waiting = [setTimeout(() => void ask(true), PAUSE_MS), setTimeout(() => void ask(false), REST_MS)];
    return () => {
      for (const each of waiting) clearTimeout(each);
      calling.abort();
    };
  }, [words, version]);
  if (words === "") return { hits: null, isSearching: false };
  return { hits: ranked?.hits ?? null, isSearching: ranked?.q !== words };
}

interface SearchProps {
  q: string;
  onInput: (q: string) => void;
  onLeave: () => void;
  wantsFocus: boolean;
}

function SearchField(props: SearchProps): VNode {
  const place = useRef<HTMLElement>(null);
  const focus = (event?: KeyboardEvent) => {
    event?.preventDefault();
    const input = place.current?.querySelector("input");
    input?.focus();
    input?.select();
  };
  useKeys({ "/": focus });
  useEffect(() => {
    if (!props.wantsFocus) return;
    // After the view's title has been given the focus. The wish is taken out of the address last: that ends this effect.
    const frame = requestAnimationFrame(() => {
      focus();
      amend({ focus: null });
    });
    return () => cancelAnimationFrame(frame);
  }, [props.wantsFocus]);
  const press = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (props.q === "") event.currentTarget.blur();
      else props.onInput("");
    }
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      const first = document.querySelector<HTMLElement>(".memories .entry a");
      first?.focus();
      if (event.key === "Enter") first?.click();
    }
  };
  return (
    <search class="list-search" ref={place}>
      <Field
        label="Search the memories"
        isBare
        type="search"
        placeholder="Search…  /"
        autocomplete="off"
        spellcheck={false}
        value={props.q}
        onInput={props.onInput}
        onKeyDown={press}
        onBlur={props.onLeave}
      />
    </search>
  );
}

function Filters({ rows, asked, onSort }: { rows: ListedMemory[]; asked: Asked; onSort: (sort: Sort) => void }): VNode {
  const scopes = useMemo(() => [...new Set(rows.map((row) => row.scope))].sort(), [rows]);
  const ages = AGES.map(({ label }) => label);
  const filters = { type: MEMORY_TYPES, scope: scopes, verdict: VERDICTS, age: ages };
  const sorts = COLUMNS.map(([sort, title]) => [sort, `By ${sort === "name" ? "name" : title.toLowerCase()}`] as const);
  return (
    <div class="filters row">
      {Object.entries(filters).map(([name, known]) => {
        const value = asked[name as keyof typeof filters];
        // The filter in the address is shown, even if no memory matches it.
        const options = value === "" || known.some((each) => each === value) ? known : [value, ...known];
        return (
          <Field
            key={name}
            label={name.replace(/^./, (first) => first.toUpperCase())}
            isBare
            fieldClass={`field${value === "" ? "" : " is-set"}`}
            value={value}
            options={[["", `Any ${name}`], ...options]}
            onInput={(chosen) => amend({ [name]: chosen })}
          />
        );
      })}
      {/* Where the table has no head: on a narrow screen. */}
      <Field
        label="Sort by"
        isBare
        fieldClass="narrow-only"
        value={asked.sort}
        options={asked.q === "" ? sorts : [["rank", "By rank"], ...sorts]}
        onInput={(sort) => onSort(sort as Sort)}
      />
    </div>
  );
}

function NothingFound(props: { isEmpty: boolean; isSearching: boolean; onClear: () => void }): VNode {
  if (props.isEmpty)
    return (
      <Empty title="No memories yet">
        <p>
          Agents write memories while they work. You can write one yourself with <code>memdir save</code>, or tell an
          agent to remember something.
        </p>
      </Empty>
    );
  if (props.isSearching) return <Loading text="Searching…" />;
  return (
    <Empty title="Nothing matches" text="No memory matches this search and these filters.">
      <Button text="Show all memories" onClick={props.onClear} />
    </Empty>
  );
}

function Skipped({ skipped }: { skipped: MemoryList["skipped"] }): VNode | null {
  if (skipped.length === 0) return null;
  return (
    <details class="stack-xs small">
      <summary>{formatCount(skipped.length, "file is", "files are")} no memory</summary>
      <List rows={skipped}>
        {({ path, reason }) => (
          <>
            <code dir="auto">{path}</code> <span class="soft">{reason}</span>
          </>
        )}
      </List>
    </details>
  );
}

function saysCount(shown: number, all: number): VNode {
  return (
    <span role="status">
      {shown === all ? formatCount(all, "memory", "memories") : `${shown.toLocaleString()} of ${all.toLocaleString()}`}
    </span>
  );
}
