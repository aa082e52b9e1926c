/** Every memory that holds the words as they stand, quickly enough for every key that is pressed. */

import { openBreath } from "../disk/breathe.ts";
import { openSearchTexts, scoreFields, searchWords } from "../recall/search.ts";
import { readRows } from "../store/store.ts";
import type { SearchAnswer } from "./api.ts";
import type { Desk, KeptText } from "./desk.ts";

/** Best first: who holds more of the words, then in weightier places, then the youngest. */
export async function findByWords(desk: Desk, asked: string): Promise<SearchAnswer["hits"]> {
  const words = searchWords(asked);
  if (words.length === 0) return [];
  const found: { text: KeptText; score: number }[] = [];
  for (const text of await findTexts(desk)) {
    const score = scoreFields(text.fields, words, ({ text: field }, word) => field.includes(word));
    if (score > 0) found.push({ text, score });
  }
  found.sort((a, b) => b.score - a.score || b.text.mtimeMs - a.text.mtimeMs || (a.text.file < b.text.file ? -1 : 1));
  return found.map(({ text: { directory, file }, score }) => ({ directory, file, score }));
}

/** Kept for as long as somebody watches the directories and tells of changes; else looked at anew each time. */
export async function findTexts(desk: Desk): Promise<readonly KeptText[]> {
  const { kept } = desk;
  if (kept.texts && kept.texts.version === kept.version && kept.version !== null) return kept.texts.all;
  const all = readTexts(desk);
  kept.texts = { version: kept.version, all };
  // A failure is for whoever asked; the next one tries again.
  all.catch(() => {
    if (kept.texts?.all === all) delete kept.texts;
  });
  return all;
}

async function readTexts({ memdir, kept }: Desk): Promise<KeptText[]> {
  kept.read ??= openSearchTexts();
  const texts: KeptText[] = [];
  const breathe = openBreath();
  for (const [at, directory] of memdir.directories.entries()) {
    for (const { file, unreadable, mtimeMs, bytes } of (await readRows(directory)).rows) {
      const turn = breathe();
      if (turn) await turn;
      const known = unreadable ? null : kept.read.find(directory, { file, mtimeMs, bytes });
      if (known) texts.push({ directory: at, file, mtimeMs, fields: known.fields });
    }
  }
  return texts;
}
