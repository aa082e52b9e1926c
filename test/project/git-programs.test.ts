import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld } from "../world.ts";

describe.skipIf(process.platform === "win32")("a repository that names programs", () => {
  it("has none of them run by listing and by doctor", async () => {
    const world = makeWorld({ settings: { team: true } });
    const marker = join(world.top, "ran");
    const program = join(world.top, "program.sh");
    writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\ncat\n`);
    chmodSync(program, 0o755);
    mkdirSync(join(world.project, ".claude", "memory"), { recursive: true });
    writeFileSync(join(world.project, ".claude", "memory", "a.md"), "---\nname: a\ntype: project\n---\ntext\n");
    writeFileSync(join(world.project, "CLAUDE.local.md"), "mine");
    world.git("add", "-A");
    world.git("commit", "-q", "-m", "first");
    world.git("config", "core.fsmonitor", program);
    const memdir = await world.open();
    await memdir.list();
    await memdir.doctor();
    expect(existsSync(marker)).toBe(false);
    world.git("status");
    expect(existsSync(marker), "git itself runs it").toBe(true);
  });
});
