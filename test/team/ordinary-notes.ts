/** Notes without a credential, made of what looks like one: our own documentation, digests, identifiers, paths, stand-ins. */

import fs from "node:fs";
import path from "node:path";
import { type Dice, makeDice } from "./dice.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Paragraphs and list items of README and docs, as they are. */
export function readSentences(): string[] {
  const files = ["README.md", ...fs.readdirSync(path.join(ROOT, "docs")).map((name) => `docs/${name}`)];
  const texts = files
    .filter((file) => file.endsWith(".md"))
    .map((file) => fs.readFileSync(path.join(ROOT, file), "utf8"));
  return texts
    .flatMap((text) => text.split(/\n(?:\s*\n|(?=- ))/))
    .filter((part) => part.length > 40 && !part.includes("```"));
}

/** The integrity lines of the lock file. */
function readIntegrity(): string[] {
  const lock = JSON.parse(fs.readFileSync(path.join(ROOT, "package-lock.json"), "utf8"));
  return Object.entries(lock.packages as Record<string, { version?: string; resolved?: string; integrity?: string }>)
    .filter(([, { integrity }]) => integrity)
    .map(
      ([name, { version, integrity }]) => `"${name}": {\n  "version": "${version}",\n  "integrity": "${integrity}"\n}`,
    );
}

function listFiles(): string[] {
  const files = fs.readdirSync(path.join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .map((file) => `src/${file.replaceAll("\\", "/")}`);
}

/** A PNG's or a GIF's bytes, with the right beginning. */
function image(dice: Dice): string {
  const [type, head] = dice.pick([
    ["png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
    ["gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]],
  ] as const);
  const bytes = Buffer.from([...head, ...Array.from({ length: 60 + dice.below(300) }, () => dice.below(256))]);
  return `data:image/${type};base64,${bytes.toString("base64")}`;
}

const uuid = (d: Dice) => [8, 4, 4, 4, 12].map((n) => d.hex(n)).join("-");
const env = (d: Dice) =>
  d.pick([
    "GITHUB_TOKEN",
    "DB_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "SESSION_SECRET",
    "STRIPE_KEY",
  ]);

type Maker = (dice: Dice, source: { files: string; integrity: string }) => string;

const MAKERS: readonly Maker[] = [
  // What was built from what.
  (d) => `Fixed in ${d.hex(40)}; the regression came with ${d.hex(7)} (see \`git show ${d.hex(12)}\`).`,
  (d) => `The image is pinned: registry.example.net/app@sha256:${d.hex(64)}`,
  (_, { integrity }) => `\`\`\`json\n${integrity}\n\`\`\``,
  (d) => `go.sum says golang.org/x/net v0.${d.digits(2)}.0 h1:${d.base64(43)}=`,
  (d) => `md5 of the dump: ${d.hex(32)}; sha1 ${d.hex(40)}; ETag "${d.hex(32)}-7"`,
  (d) => `Cargo.lock: checksum = "${d.hex(64)}"`,
  // Identifiers.
  (d) => `The tenant is ${uuid(d)}, its project ${uuid(d)}.`,
  (d) => `request id ${uuid(d)} failed with 502, trace ${d.hex(32)}, span ${d.hex(16)}`,
  (d) => `AWS account ${d.digits(12)}, role arn:aws:iam::${d.digits(12)}:role/deploy-${d.lower(6)}`,
  (d) => `The secret is arn:aws:secretsmanager:eu-west-1:${d.digits(12)}:secret:prod/db-${d.alnum(6)}`,
  (d) => `Publishable key (public by design): pk_${"live"}_${d.alnum(24)}`,
  (d) => `Sentry: https://${d.hex(32)}@o${d.digits(6)}.ingest.sentry.io/${d.digits(7)}`,
  (d) => `The container ${d.hex(12)} was OOM-killed at 0x${d.hex(12)}; contract 0x${d.hex(40)}`,
  (d) => `Google Analytics G-${d.upper(10)}, tag manager GTM-${d.upper(7)}, channel C${d.upper(10)}`,
  (d) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${d.base64(43)} ann@laptop is allowed on the bastion.`,
  (d) =>
    `${"-".repeat(5)}BEGIN PUBLIC KEY${"-".repeat(5)}\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${d.base64(28)}\n${d.base64(60)}==\n${"-".repeat(5)}END PUBLIC KEY${"-".repeat(5)}`,
  (d) =>
    `${"-".repeat(5)}BEGIN CERTIFICATE${"-".repeat(5)}\n${(`MIIDazCCAlOgAwIBAgIU${d.base64(600)}`.match(/.{1,64}/g) ?? []).join("\n")}\n${"-".repeat(5)}END CERTIFICATE${"-".repeat(5)}`,
  // Places.
  (d, { files }) =>
    `${files}\nis where it starts; \`node_modules/.pnpm/pkg@1.${d.digits(2)}.0_${d.hex(32)}/node_modules/pkg\` is generated.`,
  (d) => `Password hashing lives in src/auth/password-${d.lower(5)}.ts; token: src/auth/token${d.digits(1)}.ts`,
  (d) => `Chunks are called assets/index-${d.alnum(8)}.js and assets/vendor.${d.hex(8)}.css`,
  (d) => `https://ci.example.net/job/app/${d.digits(4)}/console?from=${d.digits(9)}#L${d.digits(3)}`,
  (d) => `https://docs.example.net/d/1${d.url64(43)}/edit#gid=0`,
  (d) => `Design: https://www.figma.com/file/${d.alnum(22)}/Checkout?node-id=12%3A${d.digits(3)}`,
  // Pictures.
  (d) => `The favicon: ![](${image(d)})`,
  (d) => `\`\`\`css\n.icon { background: url("${image(d)}"); color: #${d.hex(6)}; }\n\`\`\``,
  // Stand-ins.
  (d) => `Use a key like sk-${"x".repeat(4 + d.below(30))} or ghp_${"x".repeat(36)} in examples.`,
  () =>
    "In docs we write AKIAIOSFODNN7" + "EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY, never a real one.",
  (d) => `${env(d)}=<your ${env(d).toLowerCase()} here>`,
  (d) => `\`\`\`yaml\nenv:\n  ${env(d)}: \${{ secrets.${env(d)} }}\n  API_KEY: \${API_KEY:-}\n\`\`\``,
  (d) => `export ${env(d)}=$(op read "op://infra/${d.lower(6)}/credential")`,
  () => "postgres://user:password@localhost:5432/app and postgres://postgres:postgres@db/test are for local runs.",
  () => 'curl -H "Authorization: Bearer $TOKEN" https://api.example.net; password: ******** in the log',
  () => 'The form sends {"username": "string", "password": "string"}; the placeholder is "Your password".',
  (d) => `const token = await readToken(${d.lower(5)}Path); const secret = process.env.${env(d)} ?? "";`,
  (d) => `terraform: password = var.db_password, token = data.vault_generic_secret.${d.lower(5)}.data["token"]`,
  // Names without values.
  (d) => `CI needs ${env(d)} and ${env(d)}; ask the platform team, they rotate every ${1 + d.below(12)} weeks.`,
  (d) =>
    `The token lasts ${d.digits(2)} minutes; max_tokens: ${d.digits(5)}; password: at least 12 characters, one digit.`,
  () => "The password policy changed: passphrases of four words are fine, password managers are required.",
  () => "Secret: the cache key must hold the locale, otherwise the German page shows English prices.",
  (d) =>
    `API key rotation is ticket OPS-${d.digits(4)}; the access key of the old bucket is gone since 2025-0${1 + d.below(8)}-12.`,
  () => "Rate limits are per token: 60 requests a minute; the basic plan has 10, a bearer of the gold card 600.",
  (d) =>
    `kubectl create secret generic app-${d.lower(4)} --from-file=./secrets/app.env; secretName: app-${d.lower(4)}-v${d.digits(1)}`,
  (d) => `| token | meaning |\n| --- | --- |\n| IDENT | a name |\n| NUMBER | ${d.digits(3)} and 0x${d.hex(4)} |`,
  (d) =>
    `2026-11-0${1 + d.below(8)}T10:${10 + d.below(49)}:00Z INFO auth: login ok user=${d.lower(6)} session=[redacted] took=${d.digits(2)}ms`,
  (d) =>
    `The keyboard shortcut is Ctrl+Shift+${d.upper(1)}; primary key: (tenant_id, order_id); foreign key: orders_${d.lower(4)}_fkey`,
  (d) =>
    `Order number ${d.upper(3)}-${d.digits(8)}, IBAN of the example shop DE00 ${d.digits(4)} ${d.digits(4)}, phone +49 30 ${d.digits(7)}.`,
];

/** At least `count`, half of them from our own documentation. */
export function makeOrdinaryNotes(seed: number, count: number): string[] {
  const dice = makeDice(seed);
  const sentences = readSentences();
  const [allFiles, allIntegrity] = [listFiles(), readIntegrity()];
  const wrap = (body: string, i: number) =>
    `---\nname: ordinary ${i}\ndescription: how it is done here\ntype: project\n---\n\n${body}\n`;
  const fromDocs = sentences.map((sentence) => `${sentence}\n\n${dice.pick(sentences)}`);
  const made = Array.from({ length: Math.max(count - fromDocs.length, Math.ceil(count / 2)) }, (_, i) => {
    const some = (from: readonly string[]) =>
      Array.from({ length: 1 + dice.below(4) }, () => dice.pick(from)).join("\n");
    const maker = MAKERS[i % MAKERS.length] as Maker;
    return `${dice.pick(sentences)}\n\n${maker(dice, { files: some(allFiles), integrity: some(allIntegrity) })}`;
  });
  return [...fromDocs, ...made].map(wrap);
}
