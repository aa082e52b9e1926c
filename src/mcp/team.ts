/** What a model changes of the team's memories: it becomes a proposal in the user's own inbox. */

import { join } from "node:path";
import { wishToForget } from "../learn/wish.ts";
import type { Memdir } from "../memdir.ts";
import { findNamed } from "../memory/find.ts";
import type { SaveRequest } from "../memory/save.ts";
import { fileNameFor, type Store } from "../store/store.ts";

/** What a model saves for the team, as a proposal; null where it is not for the team. */
export async function saveAsModel(memdir: Memdir, { body = "", ...request }: SaveWish, by: string) {
  const [team] = memdir.directories as [Store];
  if (team.scope !== "team") return null;
  const { type, name, description = "", when = [], reason } = request;
  const wish = { action: "save", file: null, type, name, description, body, reason, by } as const;
  const { done, says, ...applied } = await memdir.propose(team, { ...wish, when: [...when] });
  const file = applied.file ?? fileNameFor(type, name);
  const action = done === "inbox" ? ("waiting" as const) : ("unchanged" as const);
  return { file, path: join(team.path, file), scope: team.scope, action, notices: [says], undo: null };
}

type SaveWish = Pick<SaveRequest, "type" | "name" | "description" | "when" | "reason"> & { body?: string };

/** What a model wants the team to forget, as a proposal; null where the memory is not the team's. */
export async function forgetAsModel(memdir: Memdir, name: string, reason: string | undefined, by: string) {
  const { directory, file } = await findNamed(memdir.directories, name);
  if (directory.scope !== "team") return null;
  const { says } = await memdir.propose(directory, { ...wishToForget(directory, file, by), reason });
  return { file, action: "waiting" as const, undo: null, notices: [says] };
}
