/** Where each command's code is; loaded only when it is called. */

import type { Run } from "./command.ts";

export const LOADERS: Readonly<Record<string, () => Promise<{ run: Run }>>> = {
  console: () => import("./console.ts"),
  chat: () => import("./chat.ts"),
  sessions: () => import("./sessions.ts"),
  rewind: () => import("./rewind.ts"),
  log: () => import("./log.ts"),
  extract: () => import("./extract.ts"),
  inbox: () => import("./inbox.ts"),
  ledger: () => import("./ledger.ts"),
  enrich: () => import("./enrich.ts"),
  save: () => import("./save.ts"),
  list: () => import("./list.ts"),
  show: () => import("./show.ts"),
  edit: () => import("./edit.ts"),
  forget: () => import("./forget.ts"),
  rename: () => import("./rename.ts"),
  search: () => import("./search.ts"),
  recall: () => import("./recall.ts"),
  prompt: () => import("./prompt.ts"),
  index: () => import("./index-command.ts"),
  context: () => import("./context.ts"),
  history: () => import("./history.ts"),
  undo: () => import("./undo.ts"),
  prune: () => import("./prune.ts"),
  lint: () => import("./lint.ts"),
  doctor: () => import("./doctor.ts"),
  adopt: () => import("./adopt.ts"),
  trust: () => import("./trust.ts"),
  completion: () => import("./completion.ts"),
};
