/** A text that was kept because it competed with another, as it would be in that one's place. */

import { parseDocument } from "../text/frontmatter.ts";
import { editFields } from "../text/frontmatter-edit.ts";

/** The name of the memory that it competes with; null for an ordinary text. */
export function findCompeting(text: string): string | null {
  const { fields, problems } = parseDocument(text);
  const named = fields.find(({ key }) => key === "conflict_with")?.value;
  return problems.length === 0 && typeof named === "string" && named.trim() !== "" ? named : null;
}

/** Under the memory's own name, and without the mark of a copy. */
export function settleText(text: string): string {
  const name = findCompeting(text);
  return name === null ? text : editFields(text, { name, conflict_with: null });
}
