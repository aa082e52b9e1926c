/** What a person is, knows and likes. */

import { type Row, row } from "./said-row.ts";

const r = String.raw;
const preference = row.bind(null, "preference", "feedback");
const person = row.bind(null, "preference", "user");

const LANGUAGE =
  "(?:english|german|french|spanish|italian|portuguese|dutch|norwegian|swedish|danish|polish|japanese|chinese|korean)";
const ROLE =
  "(?:engineer|developer|dev|programmer|analyst|scientist|designer|manager|lead|owner|maintainer|author|architect|admin|administrator|student|intern|researcher|writer|tester|consultant|founder|cto|ceo|dba|sre|physicist|doctor|teacher|reviewer|contractor|translator|accountant|lawyer|editor)";
const AM = "(?:i'm|i am|im)";
const HOW = "(?:(?:quite|very|totally|completely|fairly|relatively|still|pretty|rather|also|really) )?";
const TEXTS =
  "(?:answers|explanations|commits|commit messages|responses|replies|summaries|pull requests|prs|comments|diffs)";

export const PREFERENCES: readonly Row[] = [
  preference(
    0.85,
    r`^i (?:(?:really|strongly|generally|usually|always|much|definitely|personally|still) ){0,3}(?:prefer|hate|dislike|loathe|can't stand|cannot stand|despise)\b(?! (?:it|this|that|these|those|the (?:first|second|third|last|other|latter|former|old|new)|option|your|not to say)\b)`,
    // "i hate timezones" is a sigh.
    { when: (s, plain) => s.reasoned || plain.split(" ").length > 3 },
  ),
  preference(
    0.75,
    r`^i(?:'d| would) (?:really |much )?prefer (?!(?:it|this|that|these|those|the|option|your|not|if (?:the|this|that|it))\b)`,
  ),
  preference(0.75, r`^i(?:'d| would) rather you (?!(?:fix|do|did|stop|wait|look|check|try|show|start|begin)\b)\S+`),
  person(
    0.8,
    r`^i (?:really |generally |usually |always )?(?:like|love|enjoy) (?:my |all )?(?:short|concise|brief|terse|detailed|small|plain|simple|direct|explicit|verbose|bullet|step-by-step|tabs|spaces|long|functional|typed)\b`,
  ),
  preference(
    0.8,
    r`^i (?:only |always |generally |don't |do not |never )?(?:want|need|expect|like) (?!(?:it|this|that|the|you to (?:fix|add|run|look))\b).{0,60}\b${TEXTS}\b(?! (?:for|on|about) (?:this|that|the)\b)`,
  ),
  preference(0.8, r`^i(?:'d like| would like| want| need| expect) you to (?:always|never) \S+ \S`),
  preference(0.75, r`^i(?:'d| would) rather have (?!(?:it|this|that|these|those|the|an?|one)\b)\S+ .*, \S`),
  preference(0.8, r`^i (?:always|never) want\b(?! to (?:see|hear) (?:another|that|this|it|any))`),
  preference(
    0.75,
    r`^for (?!(?:this|that|now|the|my|these|those|me)\b)[a-z]+(?: [a-z]+)?s,? i (?:want|prefer|need|like) \S`,
  ),
  preference(0.8, r`^i (?:really |do |don't |do not )?(?:like|hate|appreciate|dislike) it when you \S+ \S`),
  preference(
    0.75,
    r`^i(?:'d like| would like| want| need| expect) you to (?:show|ask|tell|explain|warn|confirm|check with|propose|wait)\b.{3,100}\b(?:before|always|whenever|every time|each time)\b`,
  ),
  preference(
    0.75,
    r`^(?:keep|make) (?:your |all |all your )?(?:answers|explanations|commits|commit messages|responses|replies|summaries|pull requests|prs|functions|comments) (?!(?:coming|going|(?:in|on|for) (?:this|that))\b)\S`,
    { order: true },
  ),
  preference(0.75, r`^(?:always )?(?:answer|reply|respond|write|talk|speak)(?: to me)? in ${LANGUAGE}\b`, {
    order: true,
  }),
  preference(
    0.75,
    r`^i (?:always|usually|generally) (?:work|do it|do this|do things|like it|want it) (?:that way|like that|this way)\b`,
    { back: true },
  ),
  person(
    0.85,
    r`^(?:call me (?!back|when|if|later|an?\b|crazy)|my (?:preferred |main |native |first )?(?:name|pronouns|role|job|title|background|time ?zone|editor|shell|language|mother tongue|team) (?:is|are)\b(?! (?:not|in|on|missing|stuck|blocked|wrong|broken|slow|dead|down|\w+ing)\b))`,
  ),
  person(
    0.85,
    r`^${AM} (?:also |just |only )?an? (?!(?:bit|little|lot|huge|big|fan|few|couple|moment|idiot|while|fool|moron|minute|hundred|day|step|hair|tad|touch|genius|morning person|night owl)\b)\p{L}`,
  ),
  person(
    0.85,
    r`^${AM} ${HOW}(?:new to|not an? (?!robot|fan|big|huge|bit)|no expert|not familiar with|unfamiliar with|fluent in|learning|colou?r[- ]?blind|dyslexic|left-handed|deaf|blind|visually impaired|based in|located in|responsible for|in charge of|on the [\w-]+ team|(?:the|your|our) (?:[\w-]+ ){0,3}${ROLE})\b(?! (?:fan|big fan)\b)`,
  ),
  // The capital letter is what makes it a name; the pattern itself ignores case.
  person(
    0.8,
    r`^(?:${AM}|my name is) (?!(?:sorry|fine|done|back|good|ok|afraid|sure|not|on|in|at|so|now|here|going|still|ready|happy|glad|confused|lost|stuck|off|out|tired|curious|just|also|using|looking|working)\b)[\p{L}'-]+(?:, [\p{L}-]+|[.!]?$| and i | from )`,
    { when: (_, plain) => /^(?:[Ii]'m|[Ii] am|[Ii]m|[Mm]y name is) \p{Lu}\p{Ll}/u.test(plain) },
  ),
  person(0.8, r`^i work (?:as|at|for|with|from|in|on) (?!(?:it|this|that)\b)\S`),
  person(
    0.8,
    r`^i (?:mostly|mainly|normally|primarily) (?:do|write|work|code|use)\b|^i (?:do|write|work|code) (?:mostly|mainly|primarily)\b|^i come from (?!(?:the meeting|lunch)\b)\S|^i have an? [\w-]+(?: [\w-]+)? background\b`,
  ),
  person(
    0.85,
    r`^i(?:'ve| have) been (?!(?:debugging|staring|waiting|trying|looking|fighting|sitting)\b)\w+ing\b.{0,60}\bfor .{1,20}\b(?:years|decades|months)\b|^i(?:'ve| have) .{0,30}\b(?:years|decades)(?:(?: of)? (?:experience|in|with|as)\b| of [\w+#.-]+)|^i(?:'ve| have) never (?:used|written|worked|touched|done) (?!(?:it|this|that)\b)|^i haven't (?:written|used|touched|coded|worked|done) .{2,60}\b(?:since|in years|for years|before)\b`,
  ),
  person(
    0.8,
    r`^i(?:'ve| have) (?:been )?(?:maintain|writ|work|develop|us|own|run|led|lead|built|teach|taught)\w* .{0,60}\bsince (?:19|20)\d\d\b`,
  ),
  person(
    0.8,
    r`^as (?:an?|the) (?!(?:result|consequence|rule|side|test|workaround|last|first|bonus|matter|whole|start|user|name|title|docs?|code|test|log)\b)[\w-]+(?: [\w-]+){0,3},? i\b`,
  ),
  preference(0.75, r`^i(?:'d| would) rather (?:see|have|get|read|review|be) (?!(?:it|this|that)\b).{3,100} than \S`),
  person(
    0.75,
    r`^i (?!(?:was|have|had|think|thought|get|got|see|saw)\b)[a-z]+ .{2,60}\b(?:most of the time|all day|every day)\b|^i (?:read|see|view|use|review|write) (?:your|all|everything|most|answers|diffs|prs) .{0,60}\bmostly\b|^i (?:usually|mostly|often) (?!(?:get|see|think|forget|agree|would)\b)[a-z]+ (?!(?:it|this|that)\b)\S`,
  ),
  person(
    0.8,
    r`(?:^|, |^from [^,]{3,40} )i(?:'ll| will)? (?:now )?(?:own|maintain|lead|take over) (?!(?:it|this|that|from|the (?:branch|pr|task|ticket|meeting|file|call))\b)\S`,
  ),
  person(
    0.75,
    r`\bmy first (?:time|project|week|month|steps?) (?:with|using|in|on)\b|^i (?:know|speak) (?!(?:that|what|why|how|it|this|you|the|where)\b)\S.{2,60}\b(?:well|but)\b|^i (?:use|rely on) a screen reader\b`,
  ),
  person(
    0.75,
    r`^(?!(?:it|this|that|the|these)\b).{2,200}\b(?:unreadable|hard(?:er)?|difficult|impossible|easier|painful)(?: to \w+)? for me\b`,
  ),
  person(
    0.8,
    r`^(?!(?:it|this|that|these|which)\b)[\w.#+-]+(?: [\w.#+-]+){0,3} (?:is|are) ${HOW}(?:new|foreign|unfamiliar) to me\b`,
  ),
  person(
    0.8,
    r`^i (?:manage|lead|teach|study|supervise|coordinate|learned|learnt|studied|grew up with) (?!(?:it|this|that|to|how)\b|(?<=(?:learned|learnt|studied) )the\b)\S+.{3,}|^i (?:don't|do not|can't|cannot) code\b`,
  ),
  preference(
    0.75,
    r`^i (?:want|expect) (?!(?:it|this|that|the|you|to)\b)[\w-]+ (?:[\w-]+ )?(?:code|names|tests|functions|files|types|docs)\b`,
    { when: (s) => s.corrected },
  ),
  // "I'm the statistician on the reader study": a trade by its ending, with what it is for.
  person(
    0.8,
    r`^${AM} (?:the|one of the) (?:[\w-]+ ){0,2}(?!(?:other|number|user|computer|caller|owner)\b)[a-z]{3,}(?:ians?|ists?|ers?|ors?|eers?|nurses?|heads?|leads?) (?:of|on|for|in|at|behind|from) \S`,
  ),
  person(
    0.8,
    r`^i (?:just |only |recently )?(?:joined|started|was hired)(?: here| the team| this (?:team|project))? as (?:an? |the )?(?:[\w-]+ ){0,3}${ROLE}\b|^i do (?:mostly |only |mainly |just )?(?:qa|ops|devops|support|testing|front-?end|back-?end|design|sales|marketing|data science|machine learning|ml|security|infra|infrastructure|localization|docs|hardware|firmware)\b(?=[,.;!]|$| (?:and|so|here|for|but|only)\b)`,
  ),
  person(
    0.8,
    r`^since .{3,30} i(?:'m| am| run| lead| own| manage| head) .{0,30}\b(?:team|group|department|service|product)\b`,
  ),
  person(
    0.8,
    r`^i do the [\w+#-]+ (?:part|side|work)\b|^[\w+#-]+ (?:isn't|is not|is) my (?:first|second|native|mother|weak|weaker) (?:language|tongue|side|point)\b|^i (?:can't|cannot|don't) (?:see|distinguish) colou?rs\b`,
  ),
  person(
    0.75,
    r`^no need (?:for (?:[\w-]+ ){0,3}explanations?|to (?:explain|teach|go into) .{3,80}), i(?:'ve| have|'m| am)? [a-z]+ \S`,
  ),
  // What the agent may leave out when it talks; "you don't need to fix that" is about the work.
  preference(
    0.75,
    r`^you (?:(?:don't|do not) (?:have|need) to|needn't) (?:ask|explain|tell|show|confirm|apologi[sz]e|praise|thank|summari[sz]e|repeat|justify|warn)\b(?! (?:it|this|that|these|those|anything about (?:this|that))\b)`,
    { order: true },
  ),
  person(0.8, r`^[\p{L}'-]+ here, [\p{L}-]+`, { when: (_, plain) => /^\p{Lu}\p{Ll}/u.test(plain) }),
  person(
    0.8,
    r`^i have (?:rsi|adhd|dyslexia|tinnitus|poor eyesight|bad eyes|low vision|an? .{2,20} (?:disability|impairment))\b`,
  ),
  preference(
    0.75,
    r`^i (?:don't|do not|never) want (?:to be \w+|you to) .{3,80}\b(?:each|every|any|anything|always|unless|again)\b`,
  ),
];
