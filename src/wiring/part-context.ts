/** What putting a part in and taking it out must know besides the text. */

export interface AddContext {
  /** Lines of hooks that we put into this file before. */
  known: ReadonlySet<string>;
  /** Filled with the JSON containers that were made for us, as paths joined by `/`. */
  made: Set<string>;
}

export interface RemoveContext {
  known: ReadonlySet<string>;
  /** Containers that may go when nothing is left in them; null: any that we use. */
  made: ReadonlySet<string> | null;
}
