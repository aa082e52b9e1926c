/** Pointers to systems outside the repository. */

import { type Row, row } from "./said-row.ts";
import { BLANK } from "./said-speech.ts";

const r = String.raw;
const pointer = row.bind(null, "pointer", "reference");

/** Systems in which teams keep things. */
const SYSTEM =
  "(?:linear|jira|notion|confluence|slack|mattermost|zulip|discord|(?:ms|microsoft) teams|grafana|datadog|sentry|backtrace|crashlytics|kibana|splunk|new relic|honeycomb|prometheus|pagerduty|opsgenie|figma|miro|zeplin|1password|bitwarden|lastpass|keeper|(?:hashicorp )?vault|polarion|codebeamer|doors|retool|google (?:drive|docs?|sheets?|calendar)|gdrive|onedrive|sharepoint|dropbox|nextcloud|power bi|looker|tableau|metabase|superset|bigquery|snowflake|databricks|airtable|asana|trello|clickup|shortcut|youtrack|redmine|bugzilla|phabricator|gerrit|zendesk|intercom|freshdesk|hubspot|salesforce|servicenow|github (?:issues|projects?|discussions|wiki)|gitlab|bitbucket|azure devops|jenkins|buildkite|circleci|teamcity|artifactory|nexus|minio|s3|launchdarkly|amplitude|mixpanel|posthog|statuspage|testrail|lokalise|crowdin|transifex|the (?:team |company |internal |shared )?(?:wiki|intranet|runbook|spreadsheet|shared drive|nas|handbook|file server)|the [\\w-]+ archive)";
const ADDRESS = r`(?:(?:https?|smb|s3|gs|ssh|ftp):\/\/\S+|\\\\[\w.-]+\\\S+|\b(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|app|example|internal|local|lan|corp|cloud|ai)\b|(?<![\w.])\/(?:mnt|nfs|srv|net|Volumes|shares?)\/\S+|(?<![\w&])#[a-z][\w-]{2,}|[\w.+-]{2,40}@(?:[\w-]{1,40}\.){1,4}[a-z]{2,})`;
export const PLACE = `(?:\\b${SYSTEM}\\b|${ADDRESS})`;

/** What such systems are divided into. */
const PART =
  "(?:project|space|page|file|board|sheet|doc|document|vault|view|dashboard|schedule|workspace|channel|folder|list|queue|bucket|library|collection|tab|team|component|section|area|stream|drawing)";

/** Things of the moment: where they are is of no use tomorrow. */
const PASSING = r`(?:(?:the|this|that|my|an?|same) (?:[\w-]+ )?(?:ticket|issue|bug|task|pr|pull request|mr|pipeline|deploy|logs?|output|trace|dump|artifact|commit|branch|job|build|run|page|post|article|example|screenshot|stack|diff|typo)\b|(?:the |an? )?(?:[\w-]+ )?(?:errors?|failures?)\b(?! reports?\b)|the crash (?:is|was))`;
const KEPT =
  "(?:is|are|lives?|sits?|stays?|finds?|found|kept|keep|keeps|tracked?|tracks|documented|documents?|filed|stored?|stores|logged|reported|posted|published|hosted|managed|collected|discussed|announced|written up|go|goes|come|comes|lands?|ends? up|moved|belongs?|listed|maintained?|maintains|manages?)";

/** What anyone can look up. */
const PUBLIC =
  /\b(?:docs\.rs|crates\.io|npmjs|pypi|github\.com|stackoverflow|readthedocs|mozilla\.org|wikipedia|youtube|medium\.com|reddit)\b|\bdocumented at\b/i;

/** "…, implement what it says" makes it a task. */
const isTask = (plain: string) =>
  (PUBLIC.test(plain) && !/\b(?:our|we)\b/i.test(plain)) ||
  /, (?:(?:please|just|so|then) )*(?:download|grab|take|copy|pick|implement|fix|do|add|review|read|(?:look|check|see)(?! there\b)|open|apply|summari[sz]e|download|try)\b/i.test(
    plain,
  );

export const POINTERS: readonly Row[] = [
  pointer(0.85, r`^.{3,120}\bsource of truth\b`, {
    when: (_, plain) => /\b(?:is|are|comes?|lives?|that's)\b/i.test(plain),
  }),
  pointer(
    0.85,
    r`^(?!i\b|we (?:got|saw|found)\b|see\b|${PASSING}).{2,80}\b${KEPT}\b(?: \S+){0,6}? (?:in|at|on|under|to|from|via|into|over at|through)\b(?: \S+){0,5}? ?${PLACE}`,
    { when: (_, plain) => !isTask(plain) && !/\bshould\b/i.test(plain) },
  ),
  pointer(
    0.8,
    r`^(?!${PASSING})(?:the |our )?[\w /-]{3,50}: ?(?:(?:ask|look|go|see|post) )?(?:(?:in|at|to|on) )?${ADDRESS}[.!]?$`,
  ),
  pointer(
    0.8,
    r`^(?!${PASSING}|(?:the|our) (?:[\w-]+ ){0,2}(?:endpoint|url|link|request|response|address|repro)\b)(?:the|our) .{3,80} (?:is|are)(?: now| still)?(?: at| on| behind| under)? (?!\S*(?:localhost|127\.0\.))${ADDRESS}`,
    {
      when: (_, plain) => !isTask(plain),
    },
  ),
  pointer(
    0.85,
    r`^(?:it's|it is|they're|they are|that's|those are|these are)(?: all| now)? (?:kept |tracked |documented |stored )?(?:in|on|at|under) ${PLACE}(?:,? (?:in |under |the )?${PART}\b|[^,.]{0,20}${BLANK})`,
    { when: (_, plain) => !isTask(plain) },
  ),
  pointer(0.8, r`^(?:in|on|at|under) (?:the (?:share|bucket|server|drive|volume) )${ADDRESS}`, {
    when: (_, plain) => !isTask(plain),
  }),
  pointer(0.8, r`^(?:in|on|at|under) ${PLACE}(?:,? (?:in |under |the )?${PART}\b|[^,.]{0,20}${BLANK})`, {
    when: (_, plain) => !isTask(plain),
  }),
  // A system whose name we do not know, with a part of it: "in Quarry, space EDI".
  pointer(0.8, r`^(?!i\b|${PASSING}).{2,80}\b${KEPT} (?:in|on|at|under) [\w.-]+(?: [\w.-]+)?, (?:the )?${PART}\b`, {
    when: (_, plain) => !isTask(plain) && /\b(?:in|on|at|under) \p{Lu}[\w.-]+(?: [\w.-]+)?, /u.test(plain),
  }),
  pointer(0.8, r`^(?:the|our) ${SYSTEM} ${PART}\b.{0,60} (?:is|are)(?: called| named)? ?${BLANK}`),
  pointer(0.8, r`^for (?!(?:this|that|now)\b).{3,60}(?:,| see| check| go to| use| look| there)\b.{0,60}${PLACE}`, {
    when: (_, plain) => !isTask(plain),
  }),
  pointer(
    0.8,
    r`^(?:ask|look|check|report|file|post|search|see)\b.{0,80}${PLACE}.{0,40}\b(?:when|whenever|if|for any|for all|for questions)\b`,
    { order: true },
  ),
  pointer(0.8, r`^(?:if|when(?:ever)?) you need .{3,60}[:,] .{0,40}${PLACE}`, { when: (_, plain) => !isTask(plain) }),
  pointer(0.85, r`^(?:there(?:'s| is| are)|we have|you have) (?!${PASSING}).{3,80} (?:in|at|on|under) ${PLACE}`, {
    when: (_, plain) => !isTask(plain),
  }),
];
