/** A memory that somebody wants to share, looked at before it is kept: no secret, nothing private, and what search needs of it. */

import { type Memory, parseMemory } from "../../store/store.ts";
import { sha256 } from "../../text/hash.ts";
import { termsOf } from "../../text/terms.ts";
import { type Answer, refuse } from "./answer.ts";
import type { ServerWorld } from "./route.ts";
import type { TeamData } from "./team-data.ts";

type KeptMemory = Parameters<TeamData["putMemory"]>[2];

export type Examined =
  | { memory: KeptMemory; refused?: undefined }
  /** `outcome` is for the audit log. */
  | { refused: Answer; outcome: string };

/** What is shown of a hit; more belongs into the body. */
const MAX_NAME = 200;
const MAX_DESCRIPTION = 1000;
/** A text that is all different words has no more in 250 kB; a tsvector takes a megabyte. */
const MAX_TERMS = 20_000;
/** About as much as the model of meaning reads at once. */
const MEANING_CHARACTERS = 1000;

export async function examineMemory(world: ServerWorld, path: string, text: string): Promise<Examined> {
  const secrets = world.findSecrets(text);
  if (secrets.length > 0) {
    const message = "the memory holds what looks like a secret: take it out, revoke it, and send the memory again";
    const found = secrets.map(({ rule, line }) => ({ rule, line }));
    return { refused: refuse(422, "secret", message, { secrets: found }), outcome: "refused: secret" };
  }
  const memory = parseMemory(path, text);
  if (memory.broken) {
    // Whether it is private cannot be told then.
    const message =
      "its frontmatter cannot be read for certain: mend it (`memdir lint` names the line) and send it again";
    return { refused: refuse(422, "form", message), outcome: "refused: form" };
  }
  if (isPrivate(memory)) {
    const message =
      "a memory about a user is private: write `share: true` into its frontmatter if the team should have it";
    return { refused: refuse(422, "private", message), outcome: "refused: private" };
  }
  return {
    memory: {
      path,
      text,
      hash: sha256(text),
      name: memory.name.slice(0, MAX_NAME).toWellFormed(),
      description: memory.description.slice(0, MAX_DESCRIPTION).toWellFormed(),
      terms: findTerms(memory),
      vector: (await world.embed?.(meaningOf(memory))) ?? null,
    },
  };
}

/**
 * Said to be private, or of type user by its own word or by its folder. A file that names no type at all is not taken for one:
 * the client asks more of what it sends (`travel.ts`), this is the last line.
 */
function isPrivate(memory: Memory): boolean {
  if (saysOfShare(memory, /^(false|no)$/i)) return true;
  const isUser = memory.type === "user" && (memory.typeExplicit || memory.file.startsWith("user/"));
  return isUser && !saysOfShare(memory, /^(true|yes)$/i);
}

/** At the top level, or under `metadata`, where Claude Code moves fields. */
function saysOfShare({ metadata }: Memory, word: RegExp): boolean {
  const moved = metadata.metadata;
  const nested = typeof moved === "object" && !Array.isArray(moved) ? moved.share : undefined;
  return [metadata.share, nested].some(
    (share) => typeof share === "string" && word.test(share.replace(/\s+#.*$/, "").trim()),
  );
}

/** With repetitions, in the order of the text, as ranking wants them. */
function findTerms({ name, description, when, body }: Memory): string[] {
  return termsOf([name, description, ...when, body].join("\n")).slice(0, MAX_TERMS);
}

function meaningOf({ name, description, body }: Memory): string {
  return `${name}. ${description}\n${body}`.slice(0, MEANING_CHARACTERS).toWellFormed();
}
