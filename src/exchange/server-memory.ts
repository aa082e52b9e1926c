/** Importing the knowledge graph of MCP's server-memory: a memory for each entity, with what it is related to. */

import { type Harvest, type Imported, MAX_MEMORIES, textOf, textsOf } from "./harvest.ts";
import { readSource } from "./source-file.ts";

interface Entity {
  name: string;
  kind: string;
  observations: string[];
}

interface Relation {
  to: string;
  kind: string;
}

/** JSON lines; a broken line is counted and passed over. */
export function readServerMemory(path: string): Harvest {
  const read = readSource(path, { follow: true });
  if ("problem" in read) return { found: [], problems: [read.problem] };
  const entities = new Map<string, Entity>();
  const relations = new Map<string, Relation[]>();
  let broken = 0;
  for (const line of read.text.split("\n").filter((each) => each.trim() !== "")) {
    const value = parseLine(line);
    const { type, name, entityType, observations, from, to, relationType } = value ?? {};
    if (type === "entity" && textOf(name) !== "") {
      const known = entities.get(textOf(name))?.observations ?? [];
      const all = [...new Set([...known, ...textsOf(observations)])];
      entities.set(textOf(name), { name: textOf(name), kind: textOf(entityType), observations: all });
    } else if (type === "relation" && textOf(from) !== "" && textOf(to) !== "")
      addRelation(relations, textOf(from), { to: textOf(to), kind: textOf(relationType) || "is related to" });
    else broken++;
  }
  const problems = broken === 0 ? [] : [`${broken} lines are neither an entity nor a relation: passed over`];
  const loose = [...relations].reduce((sum, [from, own]) => sum + (entities.has(from) ? 0 : own.length), 0);
  if (loose > 0) problems.push(`${loose} relations start at an entity that is not there: passed over`);
  if (entities.size > MAX_MEMORIES)
    problems.push(`only the first ${MAX_MEMORIES} of ${entities.size} entities are taken`);
  const all = [...entities.values()].slice(0, MAX_MEMORIES);
  return { found: all.flatMap((entity) => memoryOf(entity, relations.get(entity.name) ?? []) ?? []), problems };
}

function addRelation(relations: Map<string, Relation[]>, from: string, relation: Relation): void {
  const known = relations.get(from);
  if (known) known.push(relation);
  else relations.set(from, [relation]);
}

function parseLine(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** Null for a mere name. An agent wrote it down of its own accord: a conclusion. */
function memoryOf({ name, kind, observations }: Entity, own: readonly Relation[]): Imported | null {
  const facts = observations.map((fact) => `- ${fact.replaceAll("\n", "\n  ")}`);
  const links = own.map((relation) => `- ${relation.kind} [[${relation.to}]]`);
  if (facts.length + links.length === 0) return null;
  const told = observations[0] ?? own.map((relation) => `${relation.kind} ${relation.to}`).join(", ");
  return {
    name,
    description: kind === "" ? told : `${kind}: ${told}`,
    type: /^(?:user|default_user)$/i.test(name) ? "user" : null,
    body: [facts.join("\n"), links.join("\n")].filter((part) => part !== "").join("\n\n"),
    when: [],
    at: null,
    origin: { from: "server-memory", id: name },
    trust: "inferred",
  };
}
