// LoCoMo (given by path, never kept here): sessions, turns and notes of long conversations as memories, each linked to its neighbours.
import fs from "node:fs";
import { mean, openStore, percent, recallAt, writeStore } from "./recall-store.mjs";

export async function measureLocomo(world, file, kinds) {
  const conversations = JSON.parse(fs.readFileSync(file, "utf8")).map(readConversation);
  const rows = ["| what | memories | questions | R@5 | R@10 |", "| --- | ---: | ---: | ---: | ---: |"];
  for (const kind of kinds) {
    const found = [];
    let memories = 0;
    for (const conversation of conversations) {
      const items = conversation[kind];
      memories += items.length;
      const dir = writeStore(
        world.root,
        items.map((_, i) => memoryOf(kind, items, i)),
      );
      const memdir = await openStore(world, dir);
      for (const { question, evidence } of conversation.questions) {
        const covered = evidence.filter((id) => items.some(({ covers }) => covers.includes(id)));
        const gold = kind === "sessions" ? [...new Set(covered.map((id) => id.split(":")[0]))] : [...new Set(covered)];
        if (gold.length === 0) continue;
        const { memories: order } = await memdir.recall(question, { limit: 10, model: false, everything: true });
        const ids = order.map((memory) => items[Number(memory.file.slice(1, -3))]);
        const at = (k) =>
          recallAt(
            gold.length,
            gold.filter((id) =>
              ids
                .slice(0, k)
                .some((item) =>
                  kind === "sessions"
                    ? item.covers.some((turn) => turn.startsWith(`${id}:`))
                    : item.covers.includes(id),
                ),
            ),
            gold,
          );
        found.push([at(5), at(10)]);
      }
    }
    rows.push(
      `| ${kind} | ${memories} | ${found.length} | ${percent(mean(found.map(([five]) => five)))} | ${percent(mean(found.map(([, ten]) => ten)))} |`,
    );
    world.print(rows.at(-1));
  }
  return rows;
}

function memoryOf(kind, items, i) {
  const { speaker, date, text, session } = items[i];
  const near = kind === "sessions" ? [] : [i - 1, i + 1].filter((j) => items[j]?.session === session);
  return {
    file: fileOf(i),
    name: speaker ?? `Session ${i + 1}`,
    created: dateOf(date),
    body: text,
    links: near.map(fileOf),
  };
}

/** "1:56 pm on 8 May, 2023" */
const dateOf = (text) => new Date(`${text.split(" on ")[1]} UTC`).toISOString();

const fileOf = (i) => `m${String(i).padStart(5, "0")}.md`;

function readConversation({ conversation, observation, qa }) {
  const turns = [];
  const sessions = [];
  const notes = [];
  for (let n = 1; conversation[`session_${n}`]; n++) {
    const date = conversation[`session_${n}_date_time`];
    const said = conversation[`session_${n}`].map(({ speaker, dia_id: id, text, blip_caption: caption }) => ({
      covers: [id],
      speaker,
      date,
      session: n,
      text: caption ? `${text} [shares ${caption}]` : text,
    }));
    turns.push(...said);
    sessions.push({
      covers: said.flatMap(({ covers }) => covers),
      date,
      text: said.map(({ speaker, text }) => `${speaker}: ${text}`).join("\n"),
    });
    for (const [speaker, observed] of Object.entries(observation[`session_${n}_observation`] ?? {})) {
      for (const [text, evidence] of observed) notes.push({ covers: idsIn(evidence), speaker, date, session: n, text });
    }
  }
  const questions = qa
    .map(({ question, evidence }) => ({ question, evidence: idsIn(evidence ?? []) }))
    .filter(({ evidence }) => evidence.length > 0);
  return { turns, sessions, notes, questions };
}

const idsIn = (evidence) => [evidence].flat().flatMap((text) => String(text).match(/D\d+:\d+/g) ?? []);
