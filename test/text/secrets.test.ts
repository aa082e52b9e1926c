import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets, redactSecrets } from "../../src/text/secrets.ts";

// No credential stands in this file: each is made here, from a seed, so that a failure can be repeated.
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALNUM = LOWER + UPPER + DIGITS;
const HEX = `${DIGITS}abcdef`;
const URL64 = `${ALNUM}-_`;
const BASE64 = `${ALNUM}+/`;

let state = 20_261_115;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
function chars(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}
/** Alphanumeric with a letter and a digit for certain, as in every real token of some length. */
function word(length: number): string {
  return `${chars(LOWER, 1)}${chars(DIGITS, 1)}${chars(ALNUM, length - 3)}${chars(LOWER, 1)}`;
}
function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
function jwt(): string {
  return [base64url('{"alg":"HS256","typ":"JWT"}'), base64url(`{"sub":"${word(8)}"}`), chars(URL64, 43)].join(".");
}
function pem(kind: string, start: string, length: number, newline = "\n"): string {
  const body = (start + chars(BASE64, length)).match(/.{1,64}/g)!;
  const edge = (side: string) => `${"-".repeat(5)}${side} ${kind}${"-".repeat(5)}`;
  return [edge("BEGIN"), ...body, edge("END")].join(newline);
}

/** Label, rule, value, and the text around it. */
type Positive = [label: string, rule: string, value: string, wrap?: (value: string) => string];

const FORMATS: Positive[] = [
  ["GitHub classic", "github-token", `ghp_${chars(ALNUM, 36)}`],
  ["GitHub app installation", "github-token", `ghs_${chars(ALNUM, 36)}`],
  ["GitHub longer than the classic length", "github-token", `ghs_${chars(ALNUM, 80)}`],
  ["GitHub fine-grained", "github-token", `github_pat_${chars(ALNUM, 22)}_${chars(ALNUM, 59)}`],
  ["GitLab", "gitlab-token", `glpat-${chars(URL64, 20)}`],
  ["GitLab runner", "gitlab-token", `glrt-${word(20)}`],
  ["npm", "npm-token", `npm_${chars(ALNUM, 36)}`],
  ["npmrc", "npm-token", word(24), (v) => `//registry.example.org/:_authToken=${v}`],
  ["PyPI", "pypi-token", `pypi-AgEIcHlwaS5vcmc${chars(URL64, 100)}`],
  ["Stripe live", "stripe-key", `sk_live_${chars(ALNUM, 24)}`],
  ["Stripe restricted", "stripe-key", `rk_live_${chars(ALNUM, 24)}`],
  ["Stripe webhook", "stripe-webhook-secret", `whsec_${chars(ALNUM, 32)}`],
  ["another vendor's live key", "vendor-key", `tk_live_Ab7${chars(ALNUM, 12)}`],
  ["another vendor's test key", "vendor-key", `acme_test_x9Q${chars(ALNUM, 14)}`],
  ["Slack bot", "slack-token", `xoxb-${chars(DIGITS, 12)}-${chars(DIGITS, 12)}-${chars(ALNUM, 24)}`],
  ["Slack session", "slack-token", `xoxc-${chars(DIGITS, 12)}-${chars(DIGITS, 12)}-${chars(HEX, 64)}`],
  ["Slack app", "slack-token", `xapp-1-A${chars(DIGITS, 10)}-${chars(DIGITS, 12)}-${chars(HEX, 64)}`],
  [
    "Slack webhook",
    "slack-webhook",
    `https://hooks.slack.com/services/T${chars(UPPER, 8)}/B${chars(UPPER, 8)}/${word(24)}`,
  ],
  ["SendGrid", "sendgrid-key", `SG.${chars(URL64, 22)}.${chars(URL64, 43)}`],
  ["Twilio", "twilio-key", `SK${chars(HEX, 32)}`],
  ["DigitalOcean", "digitalocean-token", `dop_v1_${chars(HEX, 64)}`],
  ["OpenAI old", "openai-key", `sk-${chars(ALNUM, 20)}T3BlbkFJ${chars(ALNUM, 20)}`],
  ["OpenAI project", "openai-key", `sk-proj-${chars(URL64, 148)}`],
  ["Anthropic", "anthropic-key", `sk-ant-api03-${chars(URL64, 93)}AA`],
  ["Anthropic OAuth", "anthropic-key", `sk-ant-oat01-${chars(URL64, 60)}`],
  ["OpenRouter", "openrouter-key", `sk-or-v1-${chars(HEX, 64)}`],
  ["Groq", "groq-key", `gsk_${chars(ALNUM, 52)}`],
  ["xAI", "xai-key", `xai-${chars(ALNUM, 80)}`],
  ["Replicate", "replicate-token", `r8_${chars(ALNUM, 37)}`],
  ["Hugging Face", "huggingface-token", `hf_${chars(ALNUM, 34)}`],
  ["Google API key", "google-api-key", `AIza${chars(URL64, 35)}`],
  ["Google OAuth secret", "google-oauth-secret", `GOCSPX-${chars(URL64, 28)}`],
  ["Google access token", "google-oauth-token", `ya29.${chars(URL64, 120)}`],
  ["JWT", "jwt", jwt()],
  ["AWS access key id", "aws-access-key-id", `AKIA${chars(UPPER + DIGITS, 16)}`],
  ["AWS secret key", "aws-secret-key", chars(BASE64, 40), (v) => `aws_secret_access_key = ${v}`],
  ["AWS secret key, quoted", "aws-secret-key", chars(BASE64, 40), (v) => `{"SecretAccessKey": "${v}"}`],
  ["AWS pair of a CSV", "aws-secret-key", `AKIA${chars(UPPER, 16)},${chars(ALNUM, 40)}`],
  ["Azure storage", "azure-key", `${chars(BASE64, 86)}==`, (v) => `AccountName=a;AccountKey=${v};EndpointSuffix=core`],
  ["Azure client secret", "azure-client-secret", `${chars(ALNUM, 3)}8Q~${chars(ALNUM, 34)}`],
  ["Azure SAS", "azure-sas", chars(ALNUM, 43), (v) => `https://a.blob.core.windows.net/c?sv=2024&sig=${v}`],
  ["Telegram", "telegram-token", `${chars("123456789", 10)}:AA${chars(URL64, 33)}`],
  ["Discord bot", "discord-token", `MT1${chars(ALNUM, 22)}a.${chars(ALNUM, 6)}.${word(38)}`],
  [
    "Discord webhook",
    "discord-webhook",
    `discord.com/api/webhooks/${chars("123456789", 18)}/${word(68)}`,
    (v) => `https://${v}`,
  ],
  ["Heroku", "heroku-key", `HRKU-${chars(URL64, 60)}`],
  ["Mailgun", "mailgun-key", `key-${chars(HEX, 32)}`],
  ["Mailgun new", "mailgun-key", `${chars(HEX, 32)}-${chars(HEX, 8)}-${chars(HEX, 8)}`],
  ["Mailchimp", "mailchimp-key", `${chars(HEX, 32)}-us12`],
  ["Linear", "linear-token", `lin_api_${chars(ALNUM, 40)}`],
  ["Vercel", "vercel-token", `vcp_${chars(ALNUM, 56)}`],
  ["Vercel blob", "vercel-token", `vercel_blob_rw_${chars(ALNUM, 16)}_${chars(ALNUM, 30)}`],
  ["Supabase access", "supabase-key", `sbp_${chars(HEX, 40)}`],
  ["Supabase secret", "supabase-key", `sb_secret_${chars(URL64, 31)}`],
  ["memdir", "memdir-token", `memdir_core-team_${chars(URL64, 42)}a`],
  [
    "Docker's config",
    "basic-auth",
    Buffer.from(`ci:${word(12)}`).toString("base64"),
    (v) => `{"auths": {"registry.example.net": {"auth": "${v}"}}}`,
  ],
  ["age", "age-secret-key", `AGE-SECRET-KEY-1${chars(UPPER + DIGITS, 58)}`],
  ["Notion", "notion-token", `ntn_${chars(DIGITS, 11)}${chars(ALNUM, 35)}`],
  ["Shopify", "shopify-token", `shpat_${chars(HEX, 32)}`],
  ["Databricks", "databricks-token", `dapi${chars(HEX, 32)}`],
  ["Docker", "docker-token", `dckr_pat_${chars(URL64, 27)}`],
  ["Figma", "figma-token", `figd_${chars(URL64, 40)}`],
  ["Grafana", "grafana-token", `glsa_${chars(ALNUM, 32)}_${chars(HEX, 8)}`],
  ["Vault", "vault-token", `hvs.${chars(URL64, 92)}`],
  ["Doppler", "doppler-token", `dp.pt.${chars(ALNUM, 43)}`],
  ["Terraform Cloud", "terraform-token", `${chars(ALNUM, 14)}.atlasv1.${chars(URL64, 67)}`],
  ["Tailscale", "tailscale-key", `tskey-auth-${word(16)}-${chars(ALNUM, 24)}`],
  ["PEM RSA", "private-key", pem("RSA PRIVATE KEY", "MIIE", 1600)],
  ["PEM with CRLF", "private-key", pem("PRIVATE KEY", "MIIE", 1600, "\r\n")],
  ["PEM Ed25519", "private-key", pem("PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEI", 43)],
  ["PEM EC", "private-key", pem("EC PRIVATE KEY", "MHcCAQEE", 150)],
  ["PEM encrypted", "private-key", pem("ENCRYPTED PRIVATE KEY", "MIIF", 1600)],
  ["OpenSSH key", "private-key", pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjE", 300)],
  ["PGP key", "private-key", pem("PGP PRIVATE KEY BLOCK", "lQOY", 800)],
  ["PEM quoted in Markdown", "private-key", pem("PRIVATE KEY", "MIIE", 400, "\n> ")],
  ["PEM in JSON", "private-key", pem("PRIVATE KEY", "MIIE", 1600, "\\n"), (v) => `{"private_key": "${v}\\n"}`],
  ["PEM cut off", "private-key", pem("PRIVATE KEY", "MIIE", 300).replace(/\n-----END.*/, "")],
  ["PEM as base64", "private-key", Buffer.from(pem("RSA PRIVATE KEY", "MIIE", 300)).toString("base64")],
];

const URLS: Positive[] = [
  ["PostgreSQL", "database-password", word(12), (v) => `postgres://app:${v}@db.internal:5432/app`],
  ["PostgreSQL, marks in it", "database-password", `${word(8)}#$@!z`, (v) => `postgresql://app:${v}@db:5432/app`],
  ["MySQL over JDBC", "database-password", word(10), (v) => `jdbc:mysql://root:${v}@10.0.0.4/shop`],
  ["MongoDB", "database-password", word(14), (v) => `mongodb+srv://svc:${v}@cluster0.abcde.mongodb.net/?w=1`],
  ["Redis without a user", "database-password", word(16), (v) => `redis://:${v}@cache:6379/0`],
  ["AMQP", "url-password", word(10), (v) => `amqp://svc:${v}@mq.internal`],
  ["basic auth", "url-password", word(10), (v) => `https://deploy:${v}@ci.example.com/job`],
  ["basic auth, percent-encoded", "url-password", `${word(6)}%21%40`, (v) => `https://deploy:${v}@ci.example.com`],
  ["token as the password", "url-password", word(30), (v) => `git clone https://oauth2:${v}@git.example.com/a.git`],
  ["token as the user", "url-password", word(40), (v) => `https://${v}@git.example.com/a/b.git`],
  ["GitHub's x-oauth-basic", "github-token", chars(HEX, 40), (v) => `https://${v}:x-oauth-basic@github.com/a/b`],
];

const NAMED: Positive[] = [
  ["YAML", "password", `hunter${word(4)}`, (v) => `password: ${v}`],
  ["short", "password", `hunter${2}`, (v) => `password: ${v}`],
  ["season and year", "password", `Summer${2024}`, (v) => `the admin password is ${v}`],
  ["after a German verb", "password", word(10), (v) => `Das Passwort lautet ${v}, bitte merken`],
  ["docker login", "password", word(12), (v) => `docker login -u ci -p ${v} registry.example.net`],
  ["sshpass", "password", word(10), (v) => `sshpass -p '${v}' ssh deploy@bastion`],
  ["mysql", "password", word(10), (v) => `mysql -u root -p${v} shop`],
  ["mongosh, letters only", "password", chars(LOWER, 14), (v) => `mongosh -u root -p ${v} db.internal`],
  ["storage key that begins with a slash", "api-key", `/${chars(BASE64, 85)}==`, (v) => `AZURE_STORAGE_KEY="${v}"`],
  ["app key", "api-key", `a1${chars(HEX, 30)}`, (v) => `DATADOG_APP_KEY=${v}`],
  ["begins like a variable", "password", `$ecret${99}!`, (v) => `password: ${v}`],
  ["environment", "password", word(10), (v) => `PASSWORD=${v}`],
  ["environment, letters only", "password", chars(LOWER, 12), (v) => `export DB_PASSWORD=${v}`],
  ["digits only", "password", "84620157", (v) => `password: ${v}`],
  ["marks instead of digits", "password", `Tr${"!"}cky${"#"}Horse`, (v) => `password: ${v}`],
  ["ends in a mark", "password", `${word(8)}!`, (v) => `password: ${v}`],
  ["JSON", "password", word(9), (v) => `{"user": "app", "password": "${v}"}`],
  ["JSON inside a string", "password", word(9), (v) => `"{\\"password\\": \\"${v}\\"}"`],
  ["JSON, letters only", "password", chars(LOWER, 10), (v) => `"password": "${v}"`],
  ["TOML", "api-key", word(24), (v) => `api_key = "${v}"`],
  ["TypeScript", "password", word(12), (v) => `const dbPassword: string = "${v}";`],
  ["Go", "token", word(20), (v) => `authToken := "${v}"`],
  ["Ruby", "secret", word(32), (v) => `'client_secret' => '${v}'`],
  ["Python", "password", word(12), (v) => `os.environ["DB_PASSWORD"] = '${v}'`],
  ["PHP", "password", word(12), (v) => `define('DB_PASSWORD', '${v}');`],
  ["properties", "password", word(12), (v) => `spring.datasource.password=${v}`],
  ["ADO", "password", word(12), (v) => `Server=db;User Id=app;Password=${v};Encrypt=true`],
  ["XML", "password", word(12), (v) => `<server><password>${v}</password></server>`],
  ["query", "token", word(20), (v) => `https://api.example.com/x?token=${v}&page=2`],
  ["flag", "token", word(20), (v) => `tool --token ${v} --verbose`],
  ["flag with =", "password", word(10), (v) => `tool --password=${v}`],
  ["header", "api-key", word(32), (v) => `X-Api-Key: ${v}`],
  ["Markdown bold", "password", word(10), (v) => `- **Password:** ${v}`],
  ["Markdown bold, colon outside", "api-key", word(20), (v) => `- **API key**: \`${v}\``],
  ["Markdown table", "password", word(10), (v) => `| password | ${v} |`],
  ["prose with is", "password", word(10), (v) => `The staging password is ${v}.`],
  ["prose with for", "password", word(10), (v) => `Password for the staging database: ${v}`],
  ["prose with for and is", "password", word(10), (v) => `the password for admin is \`${v}\`, ask Ann`],
  ["hexadecimal secret", "secret", chars(HEX, 64), (v) => `SESSION_SECRET=${v}`],
  ["Rails", "secret", chars(HEX, 128), (v) => `SECRET_KEY_BASE=${v}`],
  ["UUID as a key", "api-key", "3f2a91c4-7d0e-4b11-9a5e-20c6d1e8f7b3", (v) => `HEROKU_API_KEY=${v}`],
  ["WireGuard", "api-key", `${word(43)}=`, (v) => `PrivateKey = ${v}`],
  ["base64 with slashes", "secret", `${word(12)}/${word(10)}+${word(8)}==`, (v) => `secret: ${v}`],
  ["Twilio auth token", "token", chars(HEX, 32), (v) => `TWILIO_AUTH_TOKEN=${v}`],
  ["weak but real", "password", `password${123}`, (v) => `password: ${v}`],
  ["German", "password", word(10), (v) => `Das Passwort ist ${v}, bitte nicht weitergeben.`],
  ["Japanese", "password", word(10), (v) => `パスワード：${v}`],
  [
    "letters of other scripts",
    "password",
    `Hjert${"ø"}ya!${2291}`,
    (v) => `the staging db password is ${v}, only this once`,
  ],
  ["numbered", "secret", word(20), (v) => `CLIENT_SECRET_2=${v}`],
  ["longer than the reach", "token", word(3000), (v) => `token: ${v}`],
  ["longer than the reach, quoted", "secret", word(3000), (v) => `{"secret": "${v}"}`],
  ["bearer", "bearer-token", word(30), (v) => `Authorization: Bearer ${v}`],
  ["bearer in curl", "bearer-token", word(30), (v) => `curl -H "Authorization: Bearer ${v}" https://api.example.com`],
  ["bearer alone", "bearer-token", word(30), (v) => `send it as Bearer ${v}`],
  ["basic", "basic-auth", Buffer.from(`admin:${word(9)}`).toString("base64"), (v) => `Authorization: Basic ${v}`],
  ["curl -u", "password", word(9), (v) => `curl -sS -u admin:${v} https://api.example.com`],
  ["netrc", "password", word(9), (v) => `machine api.example.com login ann password ${v}`],
];

/** What binds a value to its name, beyond a sign between the two. */
const BOUND: Positive[] = [
  ["name and value in JSON", "password", word(10), (v) => `{"name": "DB_PASSWORD", "value": "${v}"}`],
  ["name and value in YAML", "token", word(28), (v) => `- name: API_TOKEN\n  value: "${v}"`],
  ["default of a variable", "api-key", word(32), (v) => `const key = process.env.API_KEY || "${v}";`],
  ["default in a shell", "password", word(12), (v) => `\${REDIS_PASSWORD:-${v}}`],
  ["argument", "password", word(12), (v) => `conn.setPassword("${v}");`],
  ["key of a vendor", "api-key", `a1${chars(HEX, 30)}`, (v) => `export DATADOG_KEY=${v}`],
  ["comment behind it", "secret", word(32), (v) => `Stripe("${v}") # secret key`],
  ["column of a table", "token", word(40), (v) => `| service | token |\n| --- | --- |\n| CF | ${v} |`],
  ["block below", "password", word(12), (v) => `Password:\n\n\`\`\`\n${v}\n\`\`\``],
  ["name behind it", "api-key", word(32), (v) => `\`${v}\` is the API key for the sandbox`],
  ["in brackets", "token", word(26), (v) => `Use the deploy token (${v}) until Friday.`],
  ["changed to", "password", `Maple#${907}x`, (v) => `The admin password was changed to ${v} on Monday.`],
  ["user and password", "password", `Maple#${907}x`, (v) => `log in with root / ${v} on the jump host`],
  ["Twilio pair", "twilio-token", chars(HEX, 32), (v) => `AC${chars(HEX, 32)}:${v}`],
  ["Polish, words and digits", "password", `Maple-Otter-Quill${77}`, (v) => `Hasło do panelu (preview): ${v}`],
  ["Chinese", "password", `Maple-${7828}!`, (v) => `测试环境的管理员密码是 ${v},用户名 svc。`],
  ["French, hexadecimal", "api-key", `a1${chars(HEX, 62)}`, (v) => `Il faut la clé Rails : ${v} (créée hier).`],
  ["Korean", "api-key", word(32), (v) => `API 키: ${v}`],
  ["taken up in the next sentence", "token", word(32), (v) => `Ann has the deploy token. The new one (${v}) is mine.`],
  [
    "at the end of the sentence",
    "password",
    word(14),
    (v) => `The root password was in the log and still works (${v}).`,
  ],
  ["comment behind it, hexadecimal", "secret", `a1${chars(HEX, 62)}`, (v) => `  Salt: "${v}", // session secret`],
  [
    "list above",
    "secret",
    word(30),
    (v) => `1. log in\n2. open Settings, then Keys\n3. the one of staging is ours: **${v}**`,
  ],
  ["default of a variable in HCL", "password", word(16), (v) => `variable "db_password" {\n  default = "${v}"\n}`],
  [
    "id and what belongs to it",
    "secret",
    word(40),
    (v) => `mc alias set b https://s3.example.org J${chars(DIGITS, 19)} ${v}`,
  ],
  [
    "several words, quoted",
    "password",
    "satchel zephyr apricot pelican",
    (v) => `The passphrase of \`~/.ssh/id\` is "${v}".`,
  ],
  ["several words, to the end of the line", "password", "marble quartz rocket sandal", (v) => `- passphrase: ${v}`],
  ["user and weak value", "password", `Maple-Otter-Quill${77}`, (v) => `Credentials for Nexus: deployer / ${v}`],
  ["flag of an unknown program", "password", `q7${word(8)}Z!`, (v) => `rabbitadm -H mq -u svc -p ${v} get`],
  [".htpasswd", "password-hash", `$apr1$${word(8)}$${word(22)}`, (v) => `# .htpasswd\nsvc:${v}`],
  ["says it itself", "token", `acme_secret_${word(32)}`],
];

const POSITIVES = [...FORMATS, ...URLS, ...NAMED, ...BOUND];

function textOf([, , value, wrap = (v: string) => `see ${v} here`]: Positive): string {
  return wrap(value);
}

const NEGATIVES: string[] = [
  "",
  "the password is stored in 1Password",
  "The password is in the vault, ask Ann.",
  "token budget: 4000",
  "max_tokens: 128000",
  "tokens: 200000",
  "token: 4000",
  "token_count=123456 and token_type: bearer",
  "secret: see vault",
  "secret: kubernetes",
  "password: $" + "{DB_PASSWORD}",
  "password: $DB_PASSWORD",
  "PASSWORD=$(pass show db)",
  "PASSWORD=$DB_PASSWORD_2",
  "password = $this->config['db1'];",
  "password: {{ vault_db_password }}",
  "token: $" + "{{ secrets.NPM_TOKEN }}",
  "set PASSWORD=%DB_PASSWORD%",
  "api_key: <your-key>",
  "API_KEY=your-api-key-here",
  "api_key = YOUR_API_KEY_1",
  "password: xxxxxxxx",
  "password: ********",
  "token: sk-...",
  "password: example",
  "password = 'changeme'",
  "password: change-me-2024",
  '"password": "string"',
  '{"password": "Passwort", "confirmPassword": "Bestaetigen"}',
  "password: [redacted: password]",
  "password: required, at-least-8-chars",
  "password: argon2id",
  "token: HS256",
  "the secret is HMAC-SHA256 signed",
  "api_key = process.env.API_KEY",
  "const token = process.env.TOKEN ?? '';",
  "api_key = os.environ['API_KEY_V2']",
  "const token = await getToken2(user);",
  "password: userPassword",
  "token: string | undefined",
  "secret = secrets.token_hex(32)",
  "Set `GITHUB_TOKEN` in CI; token: `GITHUB_TOKEN_2`",
  "password: /run/secrets/db1_password",
  "token: ./config/token2.json",
  "secret: vault/kv2/data/app1",
  "password: op://prod/db1/password",
  "token: https://auth.example.com/oauth2/v1",
  "secretName: app-db1-creds",
  "secret: prod-db1-creds",
  "arn:aws:secretsmanager:us-east-1:123456789012:secret:db1-AbCd12",
  "AWS account: 123456789012",
  "The secret is arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-GejppS",
  "mysql -u root -p shop_db2",
  "docker run -p 8080:8080 app && docker login -u ci --password-stdin registry.example.net",
  "docker login -u ci -p $CI_PASSWORD registry.example.net",
  '{"auth": "b3BlbiBzZXNhbWUK"}',
  "memdir_search_terms and memdir_memory_folded are indexes, memdir_team_a-rather-short-one is none",
  "token: v2.10.3-beta1",
  "token expires: 2026-11-15T10:00:00Z",
  "token: 2026-11-15T10:00:00Z",
  "secret: PROJ-12345",
  "see secret ticket: OPS-4411",
  "token lifetime: 86400s, token: 86400s",
  "password_hash: 5f4dcc3b5aa765d61d8327deb882cf99",
  "commit 9f2c1e7ab34d56e8f0a1b2c3d4e5f60718293a4b fixed it",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "id 5b0c7e12-94ad-4f60-8c3b-7712ad90e4f5",
  "postgres://localhost:5432/app",
  "postgres://app@db.internal/app",
  "postgres://postgres:postgres@localhost:5432/app",
  "postgres://user:password@localhost:5432/app",
  "mysql://root:$" + "{MYSQL_PASSWORD}@db/app",
  "https://user:<password>@example.com",
  "http://localhost:3000/a@b and https://example.com:8443/x?mail=a@b.org",
  "[a](http://localhost:8080)[b](mailto:ann@example.com)",
  "ssh://git@github.com/a/b.git and git@github.com:a/b.git",
  "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1",
  "Authorization: Bearer <token>",
  "Authorization: Bearer $TOKEN",
  "bearer authentication-required for everything",
  "basic understanding of the authorization: basic knowledge",
  `AKIAIOSFODNN7${"EXAMPLE"}`,
  `ghp_${"x".repeat(36)}`,
  `sk-${"X".repeat(48)}`,
  "task-management-system-for-everyone-in-the-whole-world and risk-assessment-of-the-project-1",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAAAA1111BBBB2222CCCC3333DDDD\n-----END PUBLIC KEY-----",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1fYq2Lx0s8bN3vQm7cWd5eRt9uKp4h ann@host",
  "The compass: 12north34 and the bypass: 4way8lane",
  "docker run -u 1000:1000 app",
  "takes an Ed25519PrivateKey|Ed448PrivateKey|Ed25519PublicKey",
  "| token | meaning |\n| ----- | ------- |\n| password | 8-chars minimum |",
  "TOKEN = 0xdAC17F958D2ee523a2206206994597C13D831ec7",
  "import { createSecretKey } from 'node:crypto'; // token: Buffer.from(x1)",
  "src/memory/index-sync.ts reads MEMORY.md, see docs/adr/0012-index.md",
  "Keep a monkey: abc123def456 (not a key name)",
  // Encrypted or hashed.
  `password: ENC[AES256_GCM,data:${word(24)},iv:${word(43)}=,tag:${word(22)}==,type:str]`,
  `kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgB${word(200)}=`,
  `db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  ${chars(HEX, 80)}`,
  `DB_PASSWORD="encrypted:B${word(120)}"`,
  `token: vault:v1:${word(60)}=`,
  `password: $2b$12$${word(53)}`,
  // Published or called a sample.
  `${base64url('{"alg":"HS256"}')}.${base64url('{"sub":"1234567890","name":"John Doe"}')}.${chars(URL64, 43)}`,
  `The docs use a sample token, ${word(36)}, which is not real`,
  `GitHub's docs on OAuth answer with access_token=gho_${word(36)} as the example`,
  // Public, or encrypted, by its structure.
  `posthog.init('phc_${word(43)}')`,
  `NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY=pk_live_${word(99)}`,
  `{ apiKey: "AIza${word(35)}", authDomain: "a.firebaseapp.com" }`,
  `token: ${base64url('{"alg":"dir","enc":"A256GCM"}')}..${chars(URL64, 16)}.${chars(URL64, 40)}.${chars(URL64, 22)}`,
  "signingkey = F9115AD6ADE6A8C0",
  `gpg --recv-keys ${chars(HEX, 39).toUpperCase()}A`,
  // Near a name, but nothing that looks like a value, or a value of something else.
  "After login call `JoinChatAsync`, see `OAuth2PasswordBearer` and `TokenServiceV2Impl` for the token",
  `originSessionId: ${[8, 4, 4, 4, 12].map((length) => chars(HEX, length)).join("-")}`,
  `Trace ${chars(HEX, 32)} took long in the token service`,
  `bws secret get ${[8, 4, 4, 4, 12].map((length) => chars(HEX, length)).join("-")} -o env`,
  `digests only: STRIPE_KEY ${chars(HEX, 16)}, SMTP_PASS ${chars(HEX, 16)}`,
  "The passphrase: stored inside the vault of the team, see there",
  'level=info msg="login ok" user=d9a3456c-f40b-4fad-8719-6a1b85503288',
  // Bound to a name that is no secret's.
  `page_token: ${word(30)}`,
  `VAPID_PUBLIC_KEY=${word(87)}`,
  `cache_key: ${chars(HEX, 32)}`,
  `The token cache changed in commit ${chars(HEX, 40)}`,
  `md5sum of secrets.tar is ${chars(HEX, 32)}`,
  "if (password === confirmPassword2) return;",
];

describe("findSecrets", () => {
  it.each(POSITIVES)("finds: %s (%s)", (...positive) => {
    const text = textOf(positive);
    const [, rule, value] = positive;
    const start = text.indexOf(value);
    const line = text.slice(0, start).split("\n").length;
    expect(findSecrets(text)).toEqual([{ rule, line, start, end: start + value.length }]);
  });

  it.each(NEGATIVES)("does not find: %s", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it("finds the negatives' opposite in running text: all of them together stay silent", () => {
    expect(findSecrets(NEGATIVES.join("\n\n"))).toEqual([]);
  });

  it("never holds a value", () => {
    for (const positive of POSITIVES) {
      const found = JSON.stringify(findSecrets(textOf(positive)));
      expect(found).not.toContain(positive[2]);
      expect(found).not.toContain(JSON.stringify(positive[2]).slice(1, -1));
    }
  });

  it("counts lines from 1, also with CRLF and after a byte order mark", () => {
    const [a, b] = [`ghp_${chars(ALNUM, 36)}`, word(12)];
    for (const newline of ["\n", "\r\n"]) {
      const text = `\uFEFFone${newline}${newline}key ${a}${newline}x${newline}password: ${b}${newline}`;
      const found = findSecrets(text);
      expect(found.map(({ line }) => line)).toEqual([3, 5]);
      expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([a, b]);
    }
  });

  it("tells several on one line apart, and sorts them", () => {
    const values = [word(12), `ghp_${chars(ALNUM, 36)}`, `AKIA${chars(UPPER, 16)}`, jwt()];
    const text = `😀 password: ${values[0]}, ${values[1]} ${values[2]}; ${values[3]}`;
    const found = findSecrets(text);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(values);
    expect(found.map(({ rule }) => rule)).toEqual(["password", "github-token", "aws-access-key-id", "jwt"]);
  });

  it("merges overlapping findings and keeps the name that says more", () => {
    const value = `ghp_${chars(ALNUM, 36)}`;
    expect(findSecrets(`token: ${value}`).map(({ rule }) => rule)).toEqual(["github-token"]);
    expect(findSecrets(`GITHUB_TOKEN="${value}"`)).toHaveLength(1);
  });

  it("is not switched off by a comment in the text", () => {
    const value = `npm_${chars(ALNUM, 36)}`;
    expect(findSecrets(`<!-- secretlint-disable -->\n${value}\n`)).toHaveLength(1);
    expect(findSecrets(`${value} // secretlint-disable-line`)).toHaveLength(1);
  });
});

describe("redactSecrets", () => {
  it("takes out every value and leaves the rest as it is", () => {
    for (const positive of POSITIVES) {
      const [, rule, value] = positive;
      const text = `before\r\n${textOf(positive)}\r\n\tafter ✓`;
      const redacted = redactSecrets(text, findSecrets(text));
      expect(redacted).toBe(text.replace(value, () => `[redacted: ${rule}]`));
    }
  });

  it("leaves no piece of a value, and nothing to find, in any mixture", () => {
    const pieces = fc.constantFrom(
      ...POSITIVES.filter(([label]) => !label.startsWith("longer")).map((positive) => ({
        text: textOf(positive),
        value: positive[2],
      })),
      ...NEGATIVES.map((text) => ({ text, value: "" })),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.constantFrom("\n", "\r\n", "\n\n- "), (parts, glue) => {
        const text = parts.map((part) => part.text).join(glue);
        const redacted = redactSecrets(text, findSecrets(text));
        for (const { value } of parts) if (value) expect(redacted).not.toContain(value);
        expect(findSecrets(redacted)).toEqual([]);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it("takes findings in any order, and none at all", () => {
    const text = "a secret b token c";
    const findings = [
      { rule: "token", line: 1, start: 11, end: 16 },
      { rule: "secret", line: 1, start: 2, end: 8 },
    ];
    expect(redactSecrets(text, findings)).toBe("a [redacted: secret] b [redacted: token] c");
    expect(redactSecrets(text, [])).toBe(text);
  });
});
