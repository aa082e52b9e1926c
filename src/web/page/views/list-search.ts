/** Search as one types: with every key by the words alone, and by the real ranking once the hand rests. Only the last answer counts. */
import { useEffect, useState } from "preact/hooks";
import type { SearchAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { get } from "../remote.ts";
import { useStore } from "../store.ts";

/** Between two keys of a quick writer: what is typed in one go is asked once. */
const PAUSE_MS = 60;
/** Whoever has stopped writing: finding the meaning of words takes the server longer than a key. */
const REST_MS = 300;

export interface Ranking {
  /** Null: nobody has ranked yet. The last ranking stays until the next one is there, so that the list does not jump twice. */
  hits: SearchAnswer["hits"] | null;
  isSearching: boolean;
}

export function useRanking(q: string): Ranking {
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
