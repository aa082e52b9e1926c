/** Ordinary notes with one credential each, of forty kinds. None stands in a file: each is made here from a seed, part by part. */

import { type Dice, makeDice } from "./dice.ts";

export interface Planted {
  kind: string;
  /** What nobody may find in an answer or a log. */
  value: string;
  text: string;
}

/** How one kind is written down, by people and by programs; each with the value in it. */
type Wording = (value: string, dice: Dice) => string;
type Kind = [name: string, make: (dice: Dice) => string, wordings?: readonly Wording[]];

/** For what is known by its form alone. */
const PLAIN: readonly Wording[] = [
  (v) => `Until the vault is there, the pipeline uses ${v}.`,
  (v) => `- key for the nightly job: \`${v}\``,
  (v) => `\`\`\`sh\nexport SERVICE_KEY=${v}\nmake release\n\`\`\``,
  (v) => `| who | what |\n| --- | --- |\n| staging | ${v} |`,
  (v) => `> Ben wrote: "try it with ${v}, that one works"`,
  (v) => `{"service": "billing", "credential": "${v}"}`,
  (v) => `curl -s "https://api.example.net/v2/jobs?key=${v}"`,
];

const ENVIRONMENT: readonly ((name: string) => Wording)[] = [
  (name) => (v) => `\`\`\`\n${name}=${v}\n\`\`\``,
  (name) => (v) => `Set ${name}="${v}" before the first run.`,
  (name) => (v) => `    ${name}: ${v}\n    REGION: eu-central-1`,
  (name) => (v) => `docker run -e ${name}=${v} -p 8080:8080 worker`,
  (name) => (v) => `${name.toLowerCase()} = '${v}'  # rotate in March`,
];
const named = (name: string): Wording[] => ENVIRONMENT.map((wording) => wording(name));

const block = (kind: string, head: string, length: number, dice: Dice): string => {
  const edge = (side: string) => `${"-".repeat(5)}${side} ${kind}${"-".repeat(5)}`;
  const lines = (head + dice.base64(length)).match(/.{1,64}/g) ?? [];
  return [edge("BEGIN"), ...lines, edge("END")].join("\n");
};
const BLOCK: readonly Wording[] = [
  (v) => `The key of the old host:\n\n${v}`,
  (v) => `\`\`\`pem\n${v}\n\`\`\``,
  (v) => `- bastion:\n${v.replace(/^/gm, "    ")}`,
  (v) => `DEPLOY_KEY="${v.replaceAll("\n", "\\n")}"`,
  (v) => v.replace(/^/gm, "> "),
];

const person = (dice: Dice): string => {
  const words = ["Kestrel", "Marmot", "Quartz", "Juniper", "Falcon", "Harbor", "Thistle"];
  return `${dice.pick(words)}${dice.pick(["!", "#", "-", "_", ""])}${dice.digits(3)}${dice.lower(3)}`;
};

const KINDS: readonly Kind[] = [
  ["GitHub token", (d) => `gh${d.pick(["p", "o", "s"])}_${d.alnum(36)}`],
  ["GitHub fine-grained token", (d) => `github_${"pat"}_${d.alnum(22)}_${d.alnum(59)}`],
  ["GitLab token", (d) => `gl${"pat"}-${d.url64(20)}`],
  ["AWS access key id", (d) => `A${"KIA"}${d.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`],
  ["AWS secret key", (d) => d.base64(40), named("AWS_SECRET_ACCESS_KEY")],
  ["Google API key", (d) => `AI${"za"}${d.url64(35)}`],
  ["Google client secret", (d) => `GOC${"SPX"}-${d.url64(28)}`],
  [
    "Google service account",
    (d) => block("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1500, d).replaceAll("\n", "\\n"),
    [(v) => `\`\`\`json\n{"type": "service_account", "private_key": "${v}\\n"}\n\`\`\``],
  ],
  [
    "Azure storage key",
    (d) => `${d.base64(86)}==`,
    [
      (v) => `DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=${v};EndpointSuffix=core.windows.net`,
      (v) => `The storage account logs has the key "AccountKey=${v}".`,
      ...named("AZURE_STORAGE_KEY"),
    ],
  ],
  ["Azure client secret", (d) => `${d.alnum(3)}8Q~${d.alnum(34)}`, [...PLAIN, ...named("AZURE_CLIENT_SECRET")]],
  ["Slack token", (d) => `xo${"xb"}-${d.digits(12)}-${d.digits(13)}-${d.alnum(24)}`],
  [
    "Slack webhook",
    (d) => `https://hooks.slack.com/${"services"}/T${d.upper(8)}/B${d.upper(10)}/${d.alnum(24)}`,
    [(v) => `Alerts go to ${v}`, (v) => `curl -X POST -d '{"text":"hi"}' ${v}`, (v) => `[the channel](${v})`],
  ],
  ["Stripe key", (d) => `${d.pick(["s", "r"])}k_${"live"}_${d.alnum(d.pick([24, 99]))}`],
  ["OpenAI key", (d) => `sk-${"proj"}-${d.url64(156)}`],
  ["Anthropic key", (d) => `sk-${"ant"}-api03-${d.url64(93)}AA`],
  ["Hugging Face token", (d) => `h${"f_"}${d.alnum(34)}`],
  ["npm token", (d) => `n${"pm"}_${d.alnum(36)}`, [...PLAIN, (v) => `//registry.npmjs.org/:_authToken=${v}`]],
  ["PyPI token", (d) => `py${"pi"}-AgEIcHlwaS5vcmc${d.url64(130)}`],
  ["SendGrid key", (d) => `S${"G."}${d.url64(22)}.${d.url64(43)}`],
  ["Twilio auth token", (d) => d.hex(32), named("TWILIO_AUTH_TOKEN")],
  ["Telegram bot", (d) => `${d.of("123456789", 10)}:A${"A"}${d.url64(33)}`],
  ["Discord bot", (d) => `MT${d.alnum(23)}1.G${d.alnum(5)}.${d.alnum(37)}9`],
  ["DigitalOcean token", (d) => `do${"p_v1"}_${d.hex(64)}`],
  ["Cloudflare token", (d) => d.url64(40), [...named("CLOUDFLARE_API_TOKEN"), ...named("CF_API_TOKEN")]],
  ["Datadog key", (d) => d.hex(32), [...named("DD_API_KEY"), ...named("DATADOG_APP_KEY")]],
  [
    "Heroku key",
    (d) => [8, 4, 4, 4, 12].map((n) => d.hex(n)).join("-"),
    [...named("HEROKU_API_KEY"), (v) => `The Heroku API key is ${v}`],
  ],
  ["Vault token", (d) => `hv${"s."}${d.url64(90)}`],
  [
    "JSON web token",
    (d) =>
      `${[`{"alg":"HS256"}`, `{"sub":"${d.lower(6)}","admin":true}`]
        .map((t) => Buffer.from(t).toString("base64url"))
        .join(".")}.${d.url64(43)}`,
    [...PLAIN, (v) => `curl -H "Authorization: Bearer ${v}" https://api.example.net/me`],
  ],
  ["RSA private key", (d) => block("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 1570, d), BLOCK],
  ["OpenSSH private key", (d) => block("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", 330, d), BLOCK],
  ["PGP private key", (d) => block("PGP PRIVATE KEY BLOCK", "lQdGBGV", 900, d), BLOCK],
  [
    "database URL",
    (d) => d.pick([person(d).replace("#", ""), d.alnum(16), d.hex(24)]),
    [
      (v) => `DATABASE_URL=postgres://app:${v}@db-1.internal:5432/orders?sslmode=require`,
      (v) => `The replica is at mysql://report:${v}@10.2.0.7/shop.`,
      (v) => `\`mongodb+srv://svc:${v}@cluster0.q1w2e.mongodb.net/app\``,
      (v) => `cache: "redis://:${v}@cache.internal:6379/2"`,
      (v) => `dsn: amqps://worker:${v}@mq.example.net/jobs`,
    ],
  ],
  [
    "password in a URL",
    (d) => d.alnum(18),
    [
      (v) => `git clone https://ci:${v}@git.example.net/team/app.git`,
      (v) => `The feed is https://reader:${v}@feeds.example.net/daily.xml`,
      (v) => `pip install --index-url https://deploy:${v}@pypi.example.net/simple app`,
    ],
  ],
  [
    "password in a sentence",
    person,
    [
      (v) => `The password for the staging database is ${v}.`,
      (v) => `Log in as admin, password: ${v}`,
      (v) => `admin panel password is now ${v} (changed on Monday)`,
      (v) => `- user: deploy\n- password: \`${v}\``,
      (v) => `The password of the printer is "${v}".`,
      (v) => `Wi-Fi in the office: guest-net, passphrase ${v}`,
      (v) => `Das Passwort lautet ${v}, bitte nicht weitergeben.`,
      (v) => `login with root / ${v} on the jump host`,
    ],
  ],
  [
    "password in a setting",
    person,
    [
      ...named("DB_PASSWORD"),
      (v) => `{"user": "app", "password": "${v}"}`,
      (v) => `psql "host=db user=app password=${v}"`,
    ],
  ],
  [
    "secret of an application",
    (d) => d.pick([d.hex(64), d.url64(50), d.alnum(32)]),
    [...named("SESSION_SECRET"), ...named("JWT_SECRET"), (v) => `client_secret: ${v}`],
  ],
  [
    "bearer token",
    (d) => d.url64(40),
    [
      (v) => `curl -H 'Authorization: Bearer ${v}' https://api.example.net/v1/jobs`,
      (v) => `headers: { Authorization: "Bearer ${v}" }`,
      (v) => `Send \`Authorization: token ${v}\` with each request.`,
      (v) => `-H "X-Api-Key: ${v}"`,
      (v) => `http GET api.example.net/me "X-Auth-Token: ${v}"`,
    ],
  ],
  [
    "basic authorization",
    (d) => Buffer.from(`deploy:${d.alnum(14)}`).toString("base64"),
    [
      (v) => `Authorization: Basic ${v}`,
      (v) => `curl -H "Authorization: Basic ${v}" https://ci.example.net`,
      (v) => `{"auths": {"registry.example.net": {"auth": "${v}"}}}`,
    ],
  ],
  [
    "login on a command line",
    (d) => d.pick([person(d), d.alnum(12)]),
    [
      (v) => `curl -u admin:${v} https://ci.example.net/job/build`,
      (v) => `mysql --user=root --password=${v} shop`,
      (v) => `machine git.example.net login ci password ${v}`,
      (v) => `docker login -u ci -p ${v} registry.example.net`,
      (v) => `sshpass -p '${v}' ssh deploy@bastion`,
    ],
  ],
  ["token of this server", (d) => `memdir_${d.pick(["acme", "default", "core-team"])}_${d.url64(43)}`],
];

export const KIND_COUNT = KINDS.length;

/** `count` notes, the kinds in turn, each time in another wording. */
export function plantSecrets(seed: number, count: number, sentences: readonly string[]): Planted[] {
  const dice = makeDice(seed);
  return Array.from({ length: count }, (_, i) => {
    const [kind, make, wordings = PLAIN] = KINDS[i % KINDS.length] as Kind;
    const value = make(dice);
    const wording = wordings[(Math.floor(i / KINDS.length) + i) % wordings.length] as Wording;
    const around = () => Array.from({ length: 1 + dice.below(3) }, () => dice.pick(sentences)).join(" ");
    const text = `---\nname: note ${i}\ndescription: how it is done here\ntype: project\n---\n\n${around()}\n\n${wording(value, dice)}\n\n${around()}\n`;
    return { kind, value, text };
  });
}
