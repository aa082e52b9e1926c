/** `trust`: what a repository or a team asks for and only the user allows, rules that deny calls and a directory outside, and the user's decisions. */

import { MemdirError } from "../errors.ts";
import { type Consent, contentOf, idOf, openConsent, type Rule, readSharedRules } from "../hooks/rules.ts";
import type { Memdir } from "../memdir.ts";
import type { Check } from "../memory/doctor.ts";
import { trustKey } from "../project/locate.ts";
import { setUserEntry } from "../project/owner.ts";
import { type Enforced, meansEveryTool } from "../store/store.ts";
import { bold, count, dim, good, type Line, type Said, type Span, text, verb, warn } from "../verb.ts";
import { findAuthors } from "./list.ts";

export const trust = verb({
  args: ["action?", "id?"],
  usage: "[accept ID | refuse ID]",
  input: {
    action: text("accept or refuse; without one, lists everything", "ACTION"),
    id: text("a rule's id, or the beginning of it; or the word `directory`", "ID"),
  },
  about:
    "Your team's rules, from its server or from this repository, deny nothing until you accept them. If a rule changes, " +
    "you are asked again. Refusing also withdraws your consent: the rule does nothing, and you are not asked again. " +
    "Use the word `directory` for a memory directory outside this repository that its settings ask for.",
  examples: ["trust"],
  writes: ({ action }) => action !== undefined,
  async run(memdir, { action, id }, { env }): Promise<Asked | { message: string; id?: string }> {
    if (action === undefined) return { directory: directoryOf(memdir), rules: await listRules(memdir, env) };
    const usage = "usage: memdir trust [accept ID | refuse ID]; without arguments it lists what there is to decide";
    if ((action !== "accept" && action !== "refuse") || id === undefined) throw new MemdirError("usage", usage);
    if (id === "directory") return memdir.trust({ revoke: action === "refuse" });
    const rule = findRule(memdir, id);
    decide(memdir, rule, action === "accept");
    const done = action === "accept" ? "is enforced now" : "is not enforced, and you are not asked about it again";
    return { id: idOf(rule), message: `the rule "${rule.name}" ${done}` };
  },
  say(result, { call }) {
    if ("message" in result) return [result.message];
    const { directory, rules } = result;
    if (directory === null && rules.length === 0)
      return [
        "There is nothing to decide: your team has no rules here, and this repository asks for no directory outside it.",
      ];
    const some = [...(directory ? ["directory"] : []), ...rules.map(({ id }) => id.slice(0, SHORT))];
    return [
      ...(directory ? sayDirectory(directory) : []),
      ...rules.flatMap(sayRule),
      dim(`${call(`trust accept ${some[0]}`)} allows it, ${call(`trust refuse ${some[0]}`)} does not, or no longer`),
    ];
  },
});

type AskedRule = Awaited<ReturnType<typeof listRules>>[number];
type Asked = { directory: ReturnType<typeof directoryOf>; rules: AskedRule[] };

/** A directory outside the repository that its settings ask for; null for none. */
function directoryOf({ location, config }: Memdir) {
  const key = trustKey(location.project);
  if (location.untrusted) return { dir: location.untrusted.dir, accepted: false };
  const dir = Object.hasOwn(config.trusted, key) ? config.trusted[key] : undefined;
  return dir === undefined ? null : { dir, accepted: true };
}

/** The author in words; null where it is not known. */
async function listRules(memdir: Memdir, env: Parameters<typeof findAuthors>[1]) {
  const rules = readSharedRules(memdir.directories);
  if (rules.length === 0) return [];
  const authorOf = await findAuthors(memdir, env);
  const stateOf = openConsent(memdir.config, memdir.location.project);
  return rules.map((rule) => {
    const { name, file, path, tools, pattern, paths, message } = rule;
    const said = { id: idOf(rule), author: authorOf(rule), state: stateOf(rule) };
    return { ...said, name, file, path, tools, pattern, paths, message };
  });
}

/** Long enough to tell a team's rules apart. */
const SHORT = 8;

function findRule({ directories, config, location }: Memdir, id: string): Rule {
  const found = readSharedRules(directories).filter((rule) => idOf(rule).startsWith(id.toLowerCase()));
  const ids = new Set(found.map(idOf));
  const shown = JSON.stringify(id.slice(0, 40));
  const [rule] = found;
  if (!rule || id === "")
    throw new MemdirError("not-found", `there is no team rule ${shown}: \`memdir trust\` lists them`);
  if (ids.size > 1) throw new MemdirError("ambiguous", `${ids.size} rules begin with ${shown}: give more of the id`);
  if (openConsent(config, location.project)(rule) === "void")
    throw new MemdirError(
      "usage",
      `nothing was changed: the rule "${rule.name}" ${VOID}; its author can name its tools`,
    );
  return rule;
}

/** By content, in the user's own file. */
function decide({ config, location: { project } }: Memdir, rule: Enforced, isAccepted: boolean): void {
  const content = contentOf(rule);
  const put = (map: "acceptedRules" | "refusedRules", isWanted: boolean) => {
    // As the file is now: this process may have read it long ago.
    setUserEntry(config, map, trustKey(project), (former) => {
      const others = Array.isArray(former) ? former.filter((each) => each !== content) : [];
      const list = isWanted ? [...others, content] : others;
      return list.length > 0 ? list : null;
    });
  };
  put("acceptedRules", isAccepted);
  put("refusedRules", !isAccepted);
}

const VOID = "is about every tool, which a shared rule cannot be: it is ignored";

const STATES: Record<Consent, Span> = {
  own: "",
  accepted: good("accepted"),
  waiting: warn("waits for you"),
  refused: dim("refused"),
  void: dim(VOID),
};

function sayDirectory({ dir, accepted }: NonNullable<Asked["directory"]>): Line[] {
  return [[bold("directory"), ` ${dir} `, STATES[accepted ? "accepted" : "waiting"]], ""];
}

function sayRule({ id, name, path, author, tools, pattern, paths, message, state }: AskedRule): Said {
  const what = [
    ...(pattern === null ? [] : [`matches /${pattern}/`]),
    ...(paths.length === 0 ? [] : [`works on ${paths.join(", ")}`]),
  ];
  return [
    [bold(id.slice(0, SHORT)), ` ${name} `, STATES[state]],
    ["  ", dim(`${author ?? "author not known"}, ${path}`)],
    `  denies ${tools.join(", ")} where it ${what.join(" and ")}`,
    `  says: ${message}`,
    "",
  ];
}

/** Whoever wrote a rule, or shares their own, is not asked about it. */
export function acceptOwn(memdir: Memdir, rule: Enforced | null | undefined): void {
  if (rule && !meansEveryTool(rule.tools)) decide(memdir, rule, true);
}

/** For `doctor` and `check`. */
export function examineRules({ directories, config, location }: Memdir): Check[] {
  const rules = readSharedRules(directories);
  if (rules.length === 0 || !config.hooks.enforce) return [];
  const stateOf = openConsent(config, location.project);
  const waiting = rules.filter((rule) => stateOf(rule) === "waiting").length;
  if (waiting === 0) return [{ name: "rules", ok: true, detail: "you have decided about every team rule", fix: null }];
  const detail = `${count(waiting, "team rule")} ${waiting === 1 ? "waits" : "wait"} for your consent`;
  return [{ name: "rules", ok: false, detail, fix: "memdir trust" }];
}
