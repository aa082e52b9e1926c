// Times taken in turn, and the table they are printed in: the median, with the fastest tenth beside it, which a busy machine disturbs less.
import { spawnSync } from "node:child_process";
import process from "node:process";

/** @typedef {{ what: string, value: string, against: string, other: string, found: string, target: string, isMissed: boolean }} Row */

/** @returns {Row} */
export function timeRow(what, times, against, others, target = null) {
  const ratio = median(times) / median(others);
  return {
    what,
    value: both(times),
    against,
    other: both(others),
    found: `${ratio.toFixed(2)}× (${(quantile(times, 0.1) / quantile(others, 0.1)).toFixed(2)}×)`,
    target: target === null ? "" : `≤ ${target}×`,
    isMissed: target !== null && ratio > target,
  };
}

/** @returns {Row} */
export function sizeRow(what, megabytes, against, others, target = null) {
  const more = median(megabytes) - median(others);
  return {
    what,
    value: `${median(megabytes).toFixed(0)} MB`,
    against,
    other: `${median(others).toFixed(0)} MB`,
    found: `+${more.toFixed(0)} MB`,
    target: target === null ? "" : `≤ ${target} MB`,
    isMissed: target !== null && more > target,
  };
}

/** @param {Row[]} rows */
export function formatTable(rows) {
  const lines = [
    ["what", "time", "against", "time", "ratio", "target"],
    ["---", "---:", "---", "---:", "---:", "---"],
    ...rows.map((row) => [
      row.what,
      row.value,
      row.against,
      row.other,
      row.found,
      row.isMissed ? `${row.target} **missed**` : row.target,
    ]),
  ];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** Each piece of work once per round, who goes first changing; rounds before the first only warm. Work gets the round's number. */
export async function takeTurns(rounds, work, { warming = 2 } = {}) {
  const times = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
  for (let round = -warming; round < rounds; round++) {
    const names = Object.keys(work);
    for (const name of round % 2 === 0 ? names : names.reverse()) {
      const ms = await work[name](round);
      if (round >= 0) times[name].push(ms);
    }
  }
  return times;
}

export async function timed(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** A whole process. */
export function run(args, { cwd, env, input = "" }) {
  const start = process.hrtime.bigint();
  const result = spawnSync(process.execPath, args, {
    cwd,
    env,
    input,
    stdio: ["pipe", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.status !== 0) throw new Error(`${args.join(" ")} failed: ${result.stderr}`);
  return { ms, output: result.stdout };
}

export function median(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}

function both(times) {
  return `${format(median(times))} (${format(quantile(times, 0.1))}) ms`;
}

function format(ms) {
  return ms.toFixed(ms < 10 ? 2 : 1);
}
