/** Credentials that are known by their shape alone: prefix, alphabet and length; and the words of a text that may be one. */

// Rule, a literal without which the pattern cannot match (searching it is many times faster than the pattern), pattern. The literal
// is looked for in words of 16 characters and more, unless it may be in a shorter one: then "apart".
// A pattern either ends in an open run or is bounded, so that none can take more than linear time.
export const FORMATS: readonly (readonly [rule: string, hint: string, pattern: RegExp, where?: "apart"])[] = [
  ["1password-token", "ops_eyJ", /ops_eyJ[\w+/=-]{80,}/],
  ["age-secret-key", "AGE-SECRET-KEY-", /AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}/],
  ["airtable-token", "pat", /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/],
  ["anthropic-key", "sk-ant-", /sk-ant-[\w-]{20,}/],
  ["asana-token", "/", /\d\/\d{10,20}(?:\/\d{10,20})?:[0-9a-f]{32}(?!\w)/],
  ["atlassian-token", "ATATT3", /ATATT3[\w=-]{60,}/],
  ["atlassian-token", "ATBB", /ATBB[A-Za-z0-9]{28,}/],
  ["aws-access-key-id", "A", /(?:AKIA|ASIA|AROA|AIDA|AGPA|AIPA|ANPA|ANVA|A3T[A-Z0-9])[A-Z0-9]{16}(?!\w)/],
  ["aws-secret-key", "IA", /(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+\n]{1,20}[A-Za-z0-9/+]{40}(?![\w/+=])/],
  ["aws-bedrock-key", "ABSK", /ABSK[A-Za-z0-9+/]{80,}={0,2}/],
  ["azure-client-secret", "Q~", /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/],
  ["azure-key", "Key=", /(?<=(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}/],
  ["azure-sas", "sig=", /(?<=[?&]sig=)[A-Za-z0-9%+/]{40,}={0,2}/],
  ["brevo-key", "xkeysib-", /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}/],
  ["buildkite-token", "bkua_", /bkua_[0-9a-f]{40}/],
  ["cloudflare-token", "v1.0-", /v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}/],
  ["cloudflare-token", "cf", /cf(?:ut|at|k)_[A-Za-z0-9]{40,}/],
  ["crates-token", "cio", /cio[A-Za-z0-9]{32}(?!\w)/],
  ["databricks-token", "dapi", /dapi[0-9a-f]{32}(?:-\d)?(?!\w)/],
  ["digitalocean-token", "_v1_", /do[opr]_v1_[0-9a-f]{64}/],
  ["discord-token", ".", /[MNO](?=[\w-]{0,24}\d)[\w-]{23,25}\.[\w-]{6}\.(?=[\w-]{0,38}\d)[\w-]{27,40}(?![\w-])/],
  ["discord-webhook", "/api/webhooks/", /discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[\w-]{30,}/],
  // Docker's config.json as base64.
  ["docker-auth", "eyJhdXRocyI6", /eyJhdXRocyI6[A-Za-z0-9+/]{20,}={0,2}/],
  ["docker-token", "dckr_", /dckr_[po]at_[\w-]{27,}/],
  ["doppler-token", "dp.", /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}/],
  ["dynatrace-token", "dt0", /dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}/],
  ["facebook-token", "EAA", /(?<![/+])EAA[A-Za-z0-9]{80,}/],
  ["figma-token", "figd_", /figd_[\w-]{40,}/],
  ["firebase-key", ":APA91b", /AAAA[\w-]{7}:APA91b[\w-]{100,}/],
  ["flyio-token", "fm2_", /fm2_[\w+/=-]{40,}/],
  ["github-token", "gh", /gh[pousr]_[\w.-]{30,}/],
  ["github-token", "v1.", /v1\.[0-9a-f]{40}(?!\w)/],
  ["github-token", "github_pat_", /github_pat_\w{22,}/],
  ["gitlab-token", "gl", /gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|oas|agent)-[\w.-]{20,}/],
  ["google-api-key", "AIza", /AIza[\w-]{35}(?![\w-])/],
  ["google-api-key", "AQ.Ab", /AQ\.Ab[\w-]{40,}/],
  ["google-oauth-secret", "GOCSPX-", /GOCSPX-[\w-]{28}/],
  ["google-oauth-token", "ya29.", /ya29\.[\w-]{30,}/],
  ["google-oauth-token", "1//0", /1\/\/0[\w-]{40,}/],
  ["grafana-token", "gl", /glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,}/],
  ["groq-key", "gsk_", /gsk_[A-Za-z0-9]{40,}/],
  ["heroku-key", "HRKU-", /HRKU-[\w-]{36,}/],
  ["hubspot-token", "pat-", /pat-(?:na|eu|ap)\d-[0-9a-f-]{36}/],
  ["huggingface-token", "hf_", /hf_[A-Za-z0-9]{30,}/],
  ["jfrog-token", "AKCp", /AKCp[A-Za-z0-9]{60,}/],
  // The look-behind keeps one long run without dots from being scanned again at each of its `-eyJ`.
  // A private key as JSON: its `d`.
  ["jwk", '"kty"', /(?<="d"\s{0,3}:\s{0,3}")[\w-]{40,}/, "apart"],
  ["jwt", "eyJ", /(?<![_-])eyJ[\w-]{10,}\.[\w-]*\.[\w-]{10,}(?:\.[\w-]+)*/],
  ["langsmith-key", "lsv2_", /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/],
  ["launchdarkly-key", "-", /(?:sdk|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/],
  ["linear-token", "lin_", /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/],
  ["mailchimp-key", "-us", /[0-9a-f]{32}-us\d{1,2}(?!\w)/],
  ["mailgun-key", "key-", /key-[0-9a-f]{32}(?!\w)/],
  ["mailgun-key", "-", /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/],
  ["mapbox-token", "sk.eyJ", /sk\.eyJ[\w-]{20,400}\.[\w-]{20,}/],
  // A team's own, see team/server/data-tokens.ts.
  ["memdir-token", "memdir_", /memdir_[A-Za-z0-9][A-Za-z0-9._-]{0,63}_[\w-]{43}(?![\w-])/],
  ["neon-key", "napi_", /napi_[a-z0-9]{50,}/],
  ["netlify-token", "nfp_", /nfp_[A-Za-z0-9]{36,}/],
  ["newrelic-key", "NRAK-", /NRAK-[A-Z0-9]{27}/],
  ["notion-token", "secret_", /secret_[A-Za-z0-9]{43}(?!\w)/],
  ["notion-token", "ntn_", /ntn_[A-Za-z0-9]{40,}/],
  ["npm-token", ":_", /(?<=:_(?:authToken|auth|password)[ \t]{0,2}=[ \t]{0,2}"?)[^\s"'$<{[][^\s"']{7,}/, "apart"],
  ["npm-token", "npm_", /npm_[A-Za-z0-9]{36,}/],
  ["nuget-key", "oy2", /oy2[a-z0-9]{43}(?!\w)/],
  ["nvidia-key", "nvapi-", /nvapi-[\w-]{50,}/],
  ["openai-key", "sk-", /sk-(?:proj|svcacct|admin|None)-[\w-]{20,}/],
  ["openai-key", "sk-", /sk-[A-Za-z0-9]{32,}(?![\w-])/],
  ["openrouter-key", "sk-or-", /sk-or-v1-[0-9a-f]{40,}/],
  ["perplexity-key", "pplx-", /pplx-[A-Za-z0-9]{40,}/],
  ["pinecone-key", "pcsk_", /pcsk_\w{40,}/],
  ["plaid-token", "access-", /access-(?:production|development|sandbox)-[0-9a-f-]{36}/],
  ["planetscale-token", "pscale_", /pscale_(?:tkn|pw|oauth)_[\w.-]{32,}/],
  ["posthog-key", "phx_", /phx_[A-Za-z0-9]{40,}/],
  ["postman-key", "PMAK-", /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/],
  [
    "private-key",
    "Private-Lines:",
    /Private-Lines: \d{1,3}\r?\n[A-Za-z0-9+/=]{16,80}(?:\r?\n[A-Za-z0-9+/=]{4,80}){0,200}/,
    "apart",
  ],
  [
    "private-key",
    "LS0tLS1CRUdJTiB",
    /LS0tLS1CRUdJTiB(?:[A-Za-z0-9+/]{0,16})(?:QUklWQVRF|UFJJVkFUR|BSSVZBVEU)[A-Za-z0-9+/=]{40,}/,
  ],
  // Behind the user, as .htpasswd and shadow files have them.
  [
    "password-hash",
    ":",
    /(?<=(?<![\w.:])[\w.@-]{1,64}:)(?:\$(?:apr1|2[abxy]|[156y]|argon2\w{1,2})\$[\w./$,=+-]{20,}|\{S?SHA\}[A-Za-z0-9+/]{27,}=)/,
  ],
  ["pulumi-token", "pul-", /pul-[0-9a-f]{40}/],
  ["pypi-token", "pypi-", /pypi-AgE[\w-]{40,}/],
  ["render-key", "rnd_", /rnd_[A-Za-z0-9]{24,}/],
  ["replicate-token", "r8_", /r8_[A-Za-z0-9]{37,}/],
  ["resend-key", "re_", /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/],
  ["rubygems-key", "rubygems_", /rubygems_[0-9a-f]{48}/],
  ["sendgrid-key", "SG.", /SG\.[\w-]{20,24}\.[\w-]{39,50}/],
  ["sentry-token", "sntry", /sntry[su]_[\w+/=-]{40,}/],
  ["shopify-token", "shp", /shp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32,}/],
  ["slack-token", "xox", /xox[a-z][.-][\w.%-]{16,}/],
  ["slack-token", "xapp-", /xapp-\d-[\w-]{16,}/],
  [
    "slack-webhook",
    "hooks.slack.com/",
    /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Z]\w{5,}\/[\w/-]{16,}/,
  ],
  ["square-token", "sq0", /sq0[a-z]{3}-[\w-]{22,}/],
  ["stripe-key", "k_", /[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}/],
  // As many vendors have it since, publishable keys apart; a name of the code has words here, not digits among letters.
  ["vendor-key", "_live_", /(?<![A-Za-z0-9])(?!pk_)[a-z]{2,8}_live_(?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{14,}/],
  [
    "vendor-key",
    "_test_",
    /(?<![A-Za-z0-9])(?!pk_)[a-z]{2,8}_test_(?=[A-Za-z]{0,24}\d[A-Za-z0-9]{0,24}[A-Z])[A-Za-z0-9]{14,}/,
  ],
  ["stripe-webhook-secret", "whsec_", /whsec_[A-Za-z0-9+/=]{24,}/],
  ["supabase-key", "sbp_", /sbp_[0-9a-f]{40,}/],
  ["supabase-key", "sb_secret_", /sb_secret_[\w-]{20,}/],
  ["tailscale-key", "tskey-", /tskey-[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]+)?/],
  ["tavily-key", "tvly-", /tvly-[A-Za-z0-9-]{24,}/],
  ["teams-webhook", "webhook.office.com/", /webhook\.office\.com\/webhookb2\/[\w@-]{36,}\/[\w/-]{32,}/],
  ["telegram-token", ":AA", /\d{8,10}:AA[\w-]{32,34}(?![\w-])/],
  ["telegram-token", "bot", /bot\d{8,10}:[\w-]{35}(?![\w-])/],
  ["terraform-token", ".atlasv1.", /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}/],
  ["twilio-key", "SK", /SK[0-9a-f]{32}(?!\w)/],
  // After the account it belongs to, which is not a secret.
  ["twilio-token", "AC", /(?<=AC[0-9a-f]{32}[^A-Za-z0-9\n]{1,10})[0-9a-f]{32}(?!\w)/],
  ["twilio-token", "SK", /(?<=SK[0-9a-f]{32}[^A-Za-z0-9\n]{1,10})[0-9A-Za-z]{32}(?!\w)/],
  ["twitter-token", "AAAAAAAAAAAAAAAAAAAA", /A{20}[\w%]{50,}/],
  ["vault-token", "hv", /hv[sbr]\.[\w-]{24,}/],
  ["vercel-token", "vc", /vc[piark]_[A-Za-z0-9]{20,}/],
  ["vercel-token", "vercel_blob_rw_", /vercel_blob_rw_\w{30,}/],
  ["xai-key", "xai-", /xai-[A-Za-z0-9]{60,}/],
];

// --- The words of a text that may be a credential, found in one pass over its characters.

export interface Words {
  /** Those that are long enough for a format, one after the other. */
  long: string;
  /** Those that may be a value by themselves: with a digit, a capital behind a small letter, or dashes. */
  mixed: { start: number; end: number }[];
}

/** No format matches fewer characters without a blank, of which its hint is one, unless it says so. */
const LONG = 16;

/** One look at each character, since most texts are prose: what is left is searched with patterns, which take many times as long. */
export function readWords(text: string): Words {
  const long: string[] = [];
  const mixed: Words["mixed"] = [];
  let start = 0;
  let isMixed = false;
  let dashes = 0;
  let last = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : BLANK;
    if (code > BLANK) {
      if (code <= 57) {
        if (code >= 48) isMixed = true;
        else if (code === 45) dashes++;
      } else if (code <= 90 && code >= 65 && last >= 97 && last <= 122) isMixed = true;
    } else {
      if (at - start >= LONG) long.push(text.slice(start, at));
      if (at - start >= 6 && (isMixed || dashes > 2)) mixed.push({ start, end: at });
      start = at + 1;
      isMixed = false;
      dashes = 0;
    }
    last = code;
  }
  return { long: long.join("\n"), mixed };
}

const BLANK = 32;
