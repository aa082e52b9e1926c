import { expect, it } from "vitest";
import { covers, openPermissions, type PermissionRequest } from "../../src/tools/permission.ts";

const signal = new AbortController().signal;
const edit: PermissionRequest = { kind: "edit", tool: "Edit", summary: "Edit a.ts" };
const status: PermissionRequest = { kind: "bash git status", tool: "Bash", summary: "Bash: git status" };

function asking(answer: "allow" | "deny" | "always") {
  const asked: string[] = [];
  const remembered: string[] = [];
  const permissions = openPermissions({
    ask: async ({ kind }) => {
      asked.push(kind);
      return answer;
    },
    allowed: [],
    remember: (kind) => remembered.push(kind),
  });
  return { ...permissions, asked, remembered };
}

it("asks once per kind, and what is allowed holds for the session", async () => {
  const { permit, asked, remembered, newPrompt } = asking("allow");
  expect(await permit(edit, signal)).toEqual({ allowed: true });
  newPrompt();
  expect(await permit({ ...edit, tool: "Write" }, signal)).toEqual({ allowed: true });
  expect(await permit(status, signal)).toEqual({ allowed: true });
  expect(asked).toEqual(["edit", "bash git status"]);
  expect(remembered).toEqual([]);
});

it("always is remembered by the caller", async () => {
  const { permit, asked, remembered } = asking("always");
  await permit(edit, signal);
  await permit(edit, signal);
  expect(asked).toEqual(["edit"]);
  expect(remembered).toEqual(["edit"]);
});

it("a denial holds until the user speaks again", async () => {
  const { permit, asked, newPrompt } = asking("deny");
  expect(await permit(edit, signal)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining("did not allow"),
  });
  expect(await permit(edit, signal)).toMatchObject({ allowed: false });
  expect(asked).toEqual(["edit"]);
  newPrompt();
  await permit(edit, signal);
  expect(asked).toEqual(["edit", "edit"]);
});

it("asks one question at a time, and answers those that waited for the same", async () => {
  const open: (() => void)[] = [];
  const asked: string[] = [];
  const { permit } = openPermissions({
    ask: ({ kind }) => {
      asked.push(kind);
      return new Promise((resolve) => open.push(() => resolve(kind === "edit" ? "allow" : "deny")));
    },
    allowed: [],
  });
  const all = Promise.all([edit, edit, status, edit, status].map((request) => permit(request, signal)));
  await new Promise(setImmediate);
  expect(asked).toEqual(["edit"]);
  open[0]?.();
  await new Promise(setImmediate);
  expect(asked).toEqual(["edit", "bash git status"]);
  open[1]?.();
  expect((await all).map(({ allowed }) => allowed)).toEqual([true, true, false, true, false]);
  expect(asked).toHaveLength(2);
});

it("a stop answers the question and those behind it, and later ones are asked", async () => {
  const asked: string[] = [];
  let silent = true;
  const { permit } = openPermissions({
    ask: ({ kind }) => {
      asked.push(kind);
      return silent ? new Promise(() => {}) : Promise.resolve("allow");
    },
    allowed: [],
  });
  const controller = new AbortController();
  const both = Promise.all([permit(edit, controller.signal), permit(status, controller.signal)]);
  await new Promise(setImmediate);
  controller.abort();
  expect(await both).toMatchObject([{ allowed: false }, { allowed: false }]);
  silent = false;
  expect(await permit(status, signal)).toEqual({ allowed: true });
  expect(asked).toEqual(["edit", "bash git status"]);
  // Nothing was decided about it.
  expect(await permit(edit, signal)).toEqual({ allowed: true });
});

it("an asker that throws denies, once, and the next is asked", async () => {
  let times = 0;
  const { permit } = openPermissions({
    ask: async () => {
      if (++times === 1) throw new Error("no terminal");
      return "allow";
    },
    allowed: [],
  });
  expect(await permit(edit, signal)).toMatchObject({ allowed: false, reason: expect.stringContaining("no terminal") });
  expect(await permit(edit, signal)).toEqual({ allowed: true });
});

it("a memory that fails does not take back what was allowed", async () => {
  const { permit } = openPermissions({
    ask: async () => "always",
    allowed: [],
    remember: () => {
      throw new Error("disk full");
    },
  });
  expect(await permit(edit, signal)).toEqual({ allowed: true });
});

it.each([
  ["edit", "--allow edit"],
  ["read outside", "--allow read"],
  ["bash git status", '--allow "bash git status"'],
  ["bash: echo $(x)", "--allow bash"],
])("on a pipe %s is denied and says %s", async (kind, advice) => {
  const { permit } = openPermissions({ ask: null, allowed: [] });
  expect(await permit({ ...edit, kind }, signal)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining(advice),
  });
});

it.each([
  ["all", "edit", true],
  ["all", "bash: rm -rf $(x)", true],
  ["edit", "edit", true],
  ["edit", "read outside", false],
  ["read", "read outside", true],
  ["read", "edit", false],
  ["bash", "bash git status", true],
  ["bash", "bash: git $(x)", true],
  ["bash", "edit", false],
  ["bash git", "bash git status", true],
  ["bash git", "bash git", true],
  ["bash git", "bash gitk", false],
  ["bash git", "bash git-evil", false],
  ["bash git", "bash: git status > x", false],
  ["bash git status", "bash git push", false],
  ["bash git status", "bash git", false],
  ["bash: git", "bash: git status > x", false],
  ["bash:", "bash: git status > x", false],
  ["bash: git status > x", "bash: git status > x", true],
  ["", "edit", false],
  ["bash ", "edit", false],
])("%j covers %j: %s", (entry, kind, expected) => {
  expect(covers(entry, kind)).toBe(expected);
});

it("a whole command that was remembered is known again, byte for byte", async () => {
  const kind = "bash: echo  $(x)  ";
  const { permit } = openPermissions({ ask: null, allowed: [kind] });
  expect(await permit({ ...status, kind }, signal)).toEqual({ allowed: true });
  expect(await permit({ ...status, kind: "bash: echo $(x)" }, signal)).toMatchObject({ allowed: false });
});

it("entries are taken with stray spaces, as people type them", async () => {
  const { permit } = openPermissions({ ask: null, allowed: [" bash  git  status "] });
  expect(await permit(status, signal)).toEqual({ allowed: true });
});
