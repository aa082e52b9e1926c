import { afterAll, beforeAll, expect, it } from "vitest";
import { makeWorld, note, type World } from "../world.ts";
import { checkAccess, closeAll, openUi, type Ui } from "./browser.ts";

/** A store in Chinese, Japanese and Korean: names, descriptions, texts. */
const MEMORIES = [
  ["部署流程", "如何把分支部署到测试环境", "每周二发布，周五不发布。部署脚本在仓库里。"],
  ["記憶の地図", "メモリの整理のしかた", "古いメモは月末に見直す。重複したものは一つにまとめる。"],
  ["배포하기", "스테이징 배포 절차와 담당자", "화요일마다 배포한다. 금요일에는 배포하지 않는다."],
] as const;

let world: World;
let ui: Ui;

beforeAll(async () => {
  world = makeWorld();
  const memdir = await world.open();
  for (const [name, description, body] of MEMORIES)
    await memdir.save(note(name, { description, body, type: "project" }));
  ui = await openUi(world);
});
afterAll(closeAll);

it("a store in Chinese, Japanese and Korean is drawn with letters, found, and accessible", async () => {
  const { page } = ui;
  await ui.show("memories");
  for (const [name] of MEMORIES) await page.getByRole("link", { name }).waitFor();
  // A letter that the fonts lack is drawn as the same box as any other such letter.
  const widths = await page.evaluate(
    (letters) => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      if (canvas === null) return [];
      canvas.font = `20px ${getComputedStyle(document.body).fontFamily}`;
      return letters.map((letter) => {
        canvas.clearRect(0, 0, 40, 40);
        canvas.fillText(letter, 5, 25);
        return canvas.getImageData(0, 0, 40, 40).data.join("");
      });
    },
    ["\u{10ffff}", "部", "憶", "배"],
  );
  expect(new Set(widths).size).toBe(4);
  for (const [name, , body] of MEMORIES) {
    await page.getByRole("searchbox").fill(body.slice(0, 4));
    await expect.poll(() => page.locator(".entry .name a").first().textContent()).toBe(name);
  }
  for (const view of ["home", "memories"]) {
    await ui.show(view);
    expect(await checkAccess(page)).toEqual([]);
  }
  expect(ui.faults()).toEqual([]);
});
