import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openOutput, withoutSecrets } from "../../src/tools/bash.ts";
import { until } from "../until.ts";
import { makeBench } from "./bench.ts";

const posix = process.platform !== "win32";

describe.runIf(posix)("a command", () => {
  it("runs in the working directory and tells what it printed and how it ended", async () => {
    const bench = makeBench();
    expect(await bench.run("Bash", { command: "pwd" })).toBe(`${bench.cwd}\n[exit code 0]`);
    expect(await bench.run("Bash", { command: "true" })).toBe("(no output)\n[exit code 0]");
    expect(await bench.fail("Bash", { command: "echo no; exit 3" })).toBe("no\n[exit code 3]");
    expect(bench.touched.at(-1)).toEqual({ command: "echo no; exit 3" });
  });

  it("has output and errors in the order in which they came", async () => {
    const bench = makeBench();
    const command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done";
    const expected = [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join("");
    expect(await bench.run("Bash", { command })).toBe(`${expected}[exit code 0]`);
  });

  it("quotes, line ends and other characters arrive as they are", async () => {
    const bench = makeBench();
    expect(await bench.run("Bash", { command: "printf '%s\\n' \"a'b\" 'c\"d' '$x' 'ü 漢'\nprintf \"%s\" \\\\" })).toBe(
      "a'b\nc\"d\n$x\nü 漢\n\\\n[exit code 0]",
    );
  });

  it("starts anew each time, without input", async () => {
    const bench = makeBench();
    await bench.run("Bash", { command: "cd / && export X=1" });
    expect(await bench.run("Bash", { command: 'pwd; echo "[$X]"; cat' })).toBe(`${bench.cwd}\n[]\n[exit code 0]`);
  });

  it("is stopped when its time is up, with all that it started", async () => {
    const bench = makeBench();
    const command = "(trap '' TERM; while true; do echo x >> alive; sleep 0.01; done) & echo started; wait";
    expect(await bench.fail("Bash", { command, timeout: 30 })).toMatch(/\[stopped after 0\.03 seconds; raise timeout/);
    await expectStill(bench.at("alive"));
  });

  it("is stopped by the user, with all that it started", async () => {
    const bench = makeBench();
    const controller = new AbortController();
    const running = bench.fail(
      "Bash",
      { command: "while true; do echo x >> alive; sleep 0.01; done" },
      controller.signal,
    );
    await until(() => fs.existsSync(bench.at("alive")));
    controller.abort();
    expect(await running).toContain("[stopped by the user]");
    await expectStill(bench.at("alive"));
    expect(await bench.fail("Bash", { command: "echo x > never" }, AbortSignal.abort())).toContain("stopped");
    expect(fs.existsSync(bench.at("never"))).toBe(false);
  });

  it("leaves nothing behind in the background, and does not wait for it", async () => {
    const bench = makeBench();
    const command = "nohup sh -c 'while true; do echo x >> alive; sleep 0.01; done' & sleep 60 & echo done";
    expect(await bench.run("Bash", { command })).toContain("done\n[exit code 0]");
    await expectStill(bench.at("alive"));
  });

  it.runIf(process.platform === "linux")("leaves nothing behind in a group of its own either", async () => {
    const bench = makeBench();
    const command = "set -m; sh -c 'while true; do echo x >> alive; sleep 0.01; done' & sleep 0.03; echo done";
    expect(await bench.run("Bash", { command })).toContain("done\n[exit code 0]");
    await expectStill(bench.at("alive"));
  });

  it("what leaves the group does not hold up the answer", async () => {
    const bench = makeBench();
    expect(await bench.run("Bash", { command: "setsid sleep 1 & echo done" })).toBe("done\n[exit code 0]");
  });

  it("that is killed says by what", async () => {
    const bench = makeBench();
    expect(await bench.fail("Bash", { command: "kill -9 $$" })).toContain("[ended by SIGKILL]");
  });

  it("gets no keys", async () => {
    const env = { PATH: process.env.PATH, ANTHROPIC_API_KEY: "k1", GH_TOKEN: "k2", PLAIN: "yes" };
    const bench = makeBench({ env });
    const shown = await bench.run("Bash", { command: "env" });
    expect(shown).toContain("PLAIN=yes");
    expect(shown).not.toMatch(/k1|k2|API_KEY|TOKEN/);
  });

  it("without a working directory says so", async () => {
    const bench = makeBench();
    fs.rmSync(bench.cwd, { recursive: true });
    expect(await bench.fail("Bash", { command: "true" })).toContain("is gone");
  });

  it("in a plain shell when there is no bash on the way", async () => {
    const bench = makeBench({ env: { PATH: "" } });
    expect(await bench.run("Bash", { command: "echo hi" })).toBe("hi\n[exit code 0]");
  });

  it("that prints without end is bounded in memory", async () => {
    const bench = makeBench();
    const shown = await bench.run("Bash", { command: "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo END" });
    expect(shown.length).toBeLessThan(1_100_000);
    expect(shown).toMatch(/bytes left out …\]/);
    expect(shown).toMatch(/END\n\[exit code 0\]$/);
  });
});

describe("permission", () => {
  it("is asked for every program, with the whole command", async () => {
    const bench = makeBench();
    const command = "git status && echo hi";
    await bench.fail("Bash", { command: "git status && nonexistent-program", description: "looks\n\u001b[31maround" });
    expect(bench.asked.map(({ kind }) => kind)).toEqual(["bash git status", "bash nonexistent-program"]);
    expect(bench.asked[0]).toMatchObject({
      tool: "Bash",
      summary: "Bash: git status && nonexistent-program (looks [31maround)",
      detail: "git status && nonexistent-program",
    });
    await bench.run("Bash", { command: posix ? command : "echo hi" });
    expect(bench.asked.map(({ kind }) => kind).slice(2)).toEqual(["bash echo"]);
  });

  it("one denied program is enough to run nothing", async () => {
    const bench = makeBench({ answer: ({ kind }) => (kind === "bash touch" ? "deny" : "allow") });
    expect(await bench.fail("Bash", { command: "mkdir made && touch file" })).toContain("the command was not run");
    expect(fs.existsSync(bench.at("made"))).toBe(false);
  });

  it("an allowed program carries nothing else", async () => {
    const bench = makeBench({ allowed: ["bash git", "bash echo"], answer: () => "deny" });
    for (const command of [
      "git status $(touch x)",
      "git status > x",
      "echo hi | tee x",
      "echo `touch x`",
      "X=1 git status",
    ]) {
      expect(await bench.fail("Bash", { command })).toContain("did not allow");
    }
    expect(fs.existsSync(bench.at("x"))).toBe(false);
  });
});

it("a NUL, an empty command and a wrong timeout are refused", async () => {
  const bench = makeBench({ allowed: ["bash"] });
  expect(await bench.fail("Bash", { command: "echo \0" })).toContain("NUL");
  expect(await bench.fail("Bash", { command: "  " })).toContain('"command" is empty');
  expect(await bench.fail("Bash", { command: "true", timeout: -1 })).toContain(
    '"timeout" must be a whole number, 1 or more',
  );
});

it("variables that look like secrets are known by their names", () => {
  const names =
    "ANTHROPIC_API_KEY OPENAI_API_KEY ANTHROPIC_AUTH_TOKEN GITHUB_TOKEN github_token MY_SECRET DB_PASSWORD X_API_KEY TOKEN " +
    "AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NPM_CONFIG__AUTHTOKEN STRIPE_KEY GITHUB_PAT PASSWORD SSH_PASSPHRASE CLIENT_SECRETS";
  const secret = Object.fromEntries(names.split(" ").map((name) => [name, "x"]));
  const plain = {
    PATH: "/bin",
    HOME: "/h",
    LANG: "C",
    KEYBOARD: "de",
    TOKENIZERS_PARALLELISM: "1",
    PWD: "/",
    SSH_AUTH_SOCK: "s",
  };
  expect(withoutSecrets({ ...secret, ...plain, NONE: undefined })).toEqual(plain);
});

describe("output", () => {
  it("up to the bound stays whole", () => {
    const output = openOutput(10);
    for (const c of "0123456789abcdefghij") output.add(Buffer.from(c));
    expect(output.text()).toBe("0123456789abcdefghij");
  });

  it("beyond it keeps the start and the end", () => {
    const output = openOutput(10);
    for (let i = 0; i < 100; i++) output.add(Buffer.from(`${i},`));
    expect(output.text()).toBe("0,1,2,3,4,\n[… 270 bytes left out …]\n,97,98,99,");
  });

  it("does not show half a character where it was cut", () => {
    const output = openOutput(10);
    output.add(Buffer.from("😀".repeat(20)));
    expect(output.text()).toBe("😀😀\n[… 60 bytes left out …]\n😀😀");
  });
});

/** Nobody writes to the file any more. */
async function expectStill(file: string): Promise<void> {
  const size = () => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const before = size();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(size()).toBe(before);
}
