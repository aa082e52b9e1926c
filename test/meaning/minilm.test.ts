import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openMiniLm } from "../../src/meaning/minilm.ts";
import { needModel } from "./model.ts";

/** Texts with the vectors that another program, @lat.md/embed 0.1.0, computes from the same weights in float32. */
const REFERENCE: { text: string; vector: number[] }[] = JSON.parse(
  fs.readFileSync(path.resolve(import.meta.dirname, "../fixtures/minilm-reference.json"), "utf8"),
);
const WEIGHTS = "model.fp16.safetensors";

const UNKNOWN = [
  "thêm cột mới vào bảng người dùng",
  "triển khai lên máy chủ thử nghiệm",
  "bu fonksiyonu kim çağırıyor",
  "nasıl yeni bir tablo ekleyebilirim veritabanına",
  "jalankan semua pengujian sebelum menggabungkan cabang ini",
  "πώς προσθέτω στήλη στον πίνακα",
  "كيف أضيف عمودا إلى الجدول",
  "انشر الآن",
  "ปรับใช้",
  "123 !?",
  "👍",
];

describe("vectors", () => {
  const folder = needModel();
  let embed: ReturnType<typeof openMiniLm>;
  beforeAll(() => {
    if (folder) embed = openMiniLm(folder);
  });

  it.each(REFERENCE.map(({ text, vector }) => ({ name: text.slice(0, 40), text, vector })))("$name", (reference) => {
    const vector = embed(reference.text);
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    // Weights of 8 bits and activations of 7 in place of 32: least alike are texts of hardly any words, which no prompt is.
    expect(cosine(vector, reference.vector)).toBeGreaterThan(reference.text.length < 2 ? 0.98 : 0.996);
  });

  it("are near where texts mean the same", () => {
    const question = embed("which package manager do we use?");
    const answer = cosine(question, embed("Install dependencies with pnpm, not npm."));
    const other = cosine(question, embed("The office closes at six on Fridays."));
    expect(answer).toBeGreaterThan(other + 0.2);
  });

  it("end with the 256th word piece", () => {
    const text = "word ".repeat(254);
    expect(embed(`${text}and what comes after`)).toEqual(embed(text));
    expect(embed("word ".repeat(253))).not.toEqual(embed(text));
  });

  it("do not depend on what was asked before, and are not overwritten", () => {
    const before = embed("a short one");
    const copy = Float32Array.from(before);
    for (const { text } of REFERENCE) embed(text);
    expect(before).toEqual(copy);
    expect(embed("a short one")).toEqual(copy);
  });

  it("are not made of a prompt in a language that neither the model nor its glossary knows", () => {
    const [assets, read] = [path.resolve(import.meta.dirname, "../../assets"), [] as string[]];
    const withGlossary = openMiniLm(folder, assets);
    const known = [
      "deploy it to staging",
      "kubectl rollout restart deployment/api",
      "größer",
      "deploy prod pls thx",
      "como faço deploy em produção",
      "как задеплоить на прод",
      "odpal testy i zrób commita",
      "wie starte ich die Tests auf dem Server neu?",
      "cómo despliego esto en el servidor de pruebas",
      "où sont les journaux du service de paiement ?",
      "jak spustím testy na serveru znovu",
      "fix the 部署 script",
      "把服务部署到测试环境",
      "デプロイの手順を教えて",
      "배포하자",
      "добавь колонку в таблицу пользователей",
    ];
    for (const text of [...known, ...UNKNOWN]) if (withGlossary(text, true) !== null) read.push(text);
    expect(read).toEqual(known);
    // A memory is only compared with prompts that could be read.
    for (const text of UNKNOWN) expect(withGlossary(text)).toHaveLength(384);
  });

  it("exist for every text", () => {
    const any = fc.oneof(fc.nat(0xff), fc.nat(0x10ffff)).map((code) => String.fromCodePoint(code));
    const text = fc.array(any, { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (text) => Math.abs(Math.hypot(...embed(text)) - 1) < 1e-5),
      { numRuns: 15 },
    );
  });
});

describe("a broken model", () => {
  const folder = needModel();
  let copy: string;
  beforeEach(() => {
    copy = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-model-"));
    if (folder) fs.copyFileSync(path.join(folder, "tokenizer.json"), path.join(copy, "tokenizer.json"));
  });
  afterEach(() => fs.rmSync(copy, { recursive: true, force: true }));
  const weights = () => path.join(copy, WEIGHTS);

  it("lacks a file", () => {
    expect(() => openMiniLm(copy)).toThrow(/model\.fp16\.safetensors does not exist; reinstall/);
    expect(() => openMiniLm(path.join(copy, "nowhere"))).toThrow(/tokenizer\.json does not exist/);
    fs.mkdirSync(weights());
    expect(() => openMiniLm(copy)).toThrow(/does not exist/);
  });

  it.skipIf(process.platform === "win32")("has a pipe in the place of a file", () => {
    execFileSync("mkfifo", [weights()]);
    expect(() => openMiniLm(copy)).toThrow(/does not exist/);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ["empty", "", /ends too early/],
    ["a few bytes", "abc", /ends too early/],
    ["text", "<!doctype html><html></html>", /header is too long/],
    [
      "a Git LFS pointer",
      "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 45441937\n",
      /header is too long/,
    ],
    ["a header longer than the file", tensorFile("{}", 1000), /header is too long/],
    ["a header that is no JSON", tensorFile("{nonsense"), /not a JSON object/],
    ["a header that is no object", tensorFile("null"), /not a JSON object/],
    ["without tensors", tensorFile("{}"), /has no embeddings/],
    ["a tensor that is none", tensorFile('{"embeddings.word_embeddings.weight":7}'), /has no embeddings/],
    ["of another type", tensorFile(words({ dtype: "F32" })), /not a float16 tensor of 30522 x 384/],
    ["of another shape", tensorFile(words({ shape: [30522, 768] })), /not a float16 tensor of 30522 x 384/],
    ["beyond the end", tensorFile(words({})), /outside the file/],
    ["before the start", tensorFile(words({ data_offsets: [-8, 23440888] })), /outside the file/],
    ["of another size", tensorFile(words({ data_offsets: [0, 2] })), /outside the file/],
    ["without offsets", tensorFile(words({ data_offsets: "x" })), /outside the file/],
  ])("has weights that are %s", (_, content, message) => {
    fs.writeFileSync(weights(), content);
    expect(() => openMiniLm(copy)).toThrow(message);
  });

  it("has numbers that cannot be, or end too early", () => {
    fs.copyFileSync(path.join(folder, WEIGHTS), weights());
    const fd = fs.openSync(weights(), "r+");
    // Writes a float16 over the first number of a tensor and returns what stood there.
    const put = (tensor: string, value: Buffer) => {
      const place = placeOf(fd, tensor);
      const before = Buffer.alloc(2);
      fs.readSync(fd, before, 0, 2, place);
      fs.writeSync(fd, value, 0, 2, place);
      return before;
    };
    for (const [tensor, bits, message] of [
      ["encoder.layer.3.output.dense.weight", 0x7e00, /not finite/], // not a number
      ["encoder.layer.5.output.dense.bias", 0xfc00, /not finite/], // -infinity
      ["encoder.layer.5.output.LayerNorm.bias", 0x4c00, /vectors differ from those of all-MiniLM/], // 16
    ] as const) {
      const before = put(tensor, Buffer.from(Uint16Array.of(bits).buffer));
      expect(() => openMiniLm(copy), tensor).toThrow(message);
      put(tensor, before);
    }
    openMiniLm(copy);
    fs.ftruncateSync(fd, 40_000_000);
    fs.closeSync(fd);
    expect(() => openMiniLm(copy)).toThrow(/is outside the file; reinstall/);
  });

  it("has the tokenizer of a larger one", () => {
    fs.symlinkSync(path.join(folder, WEIGHTS), weights());
    const json = fs.readFileSync(path.join(copy, "tokenizer.json"), "utf8");
    fs.writeFileSync(path.join(copy, "tokenizer.json"), json.replace(/"deploy":\d+/, '"deploy":30522'));
    const embed = openMiniLm(copy);
    expect(() => embed("deploy")).toThrow(/does not match its tokenizer/);
  });

  it("is left closed", () => {
    fs.writeFileSync(weights(), tensorFile("{}"));
    const open = () => fs.readdirSync("/proc/self/fd").length;
    if (!fs.existsSync("/proc/self/fd")) return;
    const before = open();
    for (let i = 0; i < 5; i++) expect(() => openMiniLm(copy)).toThrow();
    expect(open()).toBeLessThanOrEqual(before);
  });
});

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function tensorFile(header: string, length = header.length): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(length));
  return Buffer.concat([size, Buffer.from(header)]);
}

function words(change: object): string {
  const entry = { dtype: "F16", shape: [30522, 384], data_offsets: [0, 30522 * 384 * 2], ...change };
  return JSON.stringify({ "embeddings.word_embeddings.weight": entry });
}

function placeOf(fd: number, tensor: string): number {
  const size = Buffer.alloc(8);
  fs.readSync(fd, size, 0, 8, 0);
  const header = Buffer.alloc(Number(size.readBigUInt64LE()));
  fs.readSync(fd, header, 0, header.length, 8);
  return 8 + header.length + JSON.parse(header.toString())[tensor].data_offsets[0];
}
