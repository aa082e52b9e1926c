/** Two people's changes of one memory brought together: fields one by one, the body by its sections. Never with markers. */

import { mergeLines, pickChanged } from "../text/diff.ts";
import { type Document, parseDocument } from "../text/frontmatter.ts";
import { mergeFields } from "./merge-fields.ts";
import { mergeSections } from "./merge-sections.ts";

export interface Merged {
  /** Theirs where it is not clean: whoever asked keeps ours beside it. */
  text: string;
  /** Both changes are in the text, whole. */
  clean: boolean;
}

export function mergeMemory(base: string, ours: string, theirs: string): Merged {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return { text: simple, clean: true };
  const text = mergeDocuments(base, ours, theirs);
  return text === null ? { text: theirs, clean: false } : { text, clean: true };
}

function mergeDocuments(base: string, ours: string, theirs: string): string | null {
  const documents = [base, ours, theirs].map(parseDocument) as [Document, Document, Document];
  // What is not understood is only compared line by line.
  if (documents.some(({ hasFrontmatter, problems }) => !hasFrontmatter || problems.length > 0)) {
    if (documents.some(({ hasFrontmatter, problems }) => hasFrontmatter || problems.length > 0))
      return mergeLines(base, ours, theirs);
    return mergeBodies(base, ours, theirs);
  }
  const [before, our, their] = documents;
  const head = mergeFields(before, our, their);
  if (head === null) return null;
  const body = mergeBodies(bodyOf(before), bodyOf(our), bodyOf(their));
  return body === null ? null : head + body;
}

/** Sections first, as two that are added at the same place are no conflict; a heading that was reworded needs the whole. */
function mergeBodies(base: string, ours: string, theirs: string): string | null {
  return pickChanged(base, ours, theirs) ?? mergeSections(base, ours, theirs) ?? mergeLines(base, ours, theirs);
}

function bodyOf({ text, bodyStart }: Document): string {
  return text.slice(bodyStart);
}
