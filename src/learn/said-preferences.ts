/** What a person is, knows and likes; and decisions, dates and events of a project. */

import { isOrder } from "./said-gates.ts";
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

const decision = row.bind(null, "decision", "project");

/** Verbs and states that a date belongs to. */
const EVENT = r`(?:(?:pushed|postponed|delayed|moved) (?!(?:the |my |his |her )?(?:fix|commit|branch|code|change|merge|pr|tag|file|button|meeting)\b)\S.{1,60} (?:to|until) (?:the |Q[1-4]\b|next|end|mid|\d|[a-z]+day\b|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december)|upgrades?|(?:is|are) valid from|pull(?:s|ing)? the plug|runs? out|lapses?|starts?|begins?|ends?|expires?|moves?|moved|moving|slips?|slipped|ships?|launch(?:es)?|go(?:es)? live|(?:is|are|was|were|gets?) (?:now )?(?:due|on|out|away|off|back|scheduled|planned|postponed|delayed|rescheduled|closed|frozen|moved|dropped|cancell?ed|retired|removed|deprecated|switched off|turned off|shut down|cut|live|blocked|locked|replaced|approved)|deadline .{2,60} is|(?:will|to) be (?:\w+ )?(?:\w+ed|switched off|turned off|shut down|cut|frozen)|on (?:leave|vacation|holiday|sabbatical|parental leave)|(?:must|has to|have to) be \w+|(?:is|are|runs?|lasts?) from .{2,30} (?:to|until|till)|takes? over|replaces|becomes|joins?|leaves?|retires?|closes?|opens?|freezes|migrates?|sunsets?|no longer|nobody|(?:no one|no) (?:merges?|deploys?|releases?)|(?:off limits|unavailable|read-only) until|(?:renewal|demo|audit|kick-?off|go-?live|cut-?over|review|release|freeze)(?: \S+){0,4} (?:is|are|was|will)\b)`;

const isFinal = (plain: string) => /\b(?:final|decided|for good|settled|agreed|official|period)\b/i.test(plain);
/** What is broken now is for the session, not for memory. */
const isBreakage = (plain: string) =>
  /\b(?:bug|errors?|crash(?:es|ed)?|failing|fails?|broken|red|green|memory|regression|exception|stuck|fixtures?|seed data|mock|test data|date ?picker|url|field|dropdown|placeholder|variable|regex|function|method)\b/i.test(
    plain,
  );

export const DECISIONS: readonly Row[] = [
  decision(
    0.8,
    r`^(?:the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal) (?:has |have )?(?:just |already |all )?(?:decided|agreed|voted|signed off|approved)(?: (?:it|that|this|so))?[.!]*$`,
    { back: true },
  ),
  decision(
    0.85,
    r`^(?:then |so )?(?:we|[\w-]+ and i|i and [\w-]+|the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal|product)(?:'ve| have|'re| are)? (?:(?:just|finally|all|now|jointly|also) ){0,2}(?:decided|agreed|settled on|voted|committed to|opted)\b(?! (?:(?:on |to )?(?:nothing|disagree)|(?:this|that|it)(?: one)?(?:[.,;!]|$| (?:already|yet|last|before|this|today|on|in|with|by|is|was)\b)|already|yet|with (?:you|that|this|me)[.!]?$))`,
    // "we decided to go for lunch"
    {
      when: (s, plain) =>
        s.dated ||
        s.reasoned ||
        isFinal(plain.replace(/^.{0,40}?(?:decided|agreed)/i, "")) ||
        plain.split(" ").length > 7,
    },
  ),
  decision(
    0.8,
    r`^(?:the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal|product) (?:has |have )?(?:just |finally )?(?:chose|chosen|picked|selected|approved|rejected|vetoed|signed off)\b`,
  ),
  decision(
    0.75,
    r`^(?:the (?:[\w-]+ )?(?:team|board|client|customer|vendor|auditors?|works council)|management|legal|compliance|security) (?:now )?(?:wants?(?! to see)|requires?|insists? on|demands?|forbids?) .{3,80}\b(?:every|any|all|each|no|never|always)\b`,
  ),
  // The capital letter is what makes it a name.
  decision(
    0.75,
    r`^[\p{L}-]{2,20} (?:decides (?:about|on)(?! (?:that|this|it)\b)|approves (?!this|that|it)|signs off|has the (?:last|final) (?:word|say)|(?:has to|must) (?:sign|approve|be asked)(?=.*\b(?:every|all|any|each|anything|before)\b))\b`,
    {
      when: (_, plain) =>
        /^\p{Lu}\p{Ll}/u.test(plain) && !/^(?:He|She|It|They|This|That|Who|We|You|Everyone|Nobody)\b/.test(plain),
    },
  ),
  decision(0.8, r`^we (?:have |'ve )?(?:just |finally )?(?:chose|chosen|picked|selected) \S`, {
    when: (s, plain) => s.dated || s.reasoned || isFinal(plain),
  }),
  decision(0.85, r`^(?:decision|decided|agreed)\b[^:]{0,60}: ?(?!(?:option|variant|version) \w+[.!]*$)\S+ \S+`, {
    when: (_, plain) => !isOrder(plain.slice(plain.indexOf(":") + 1).trim()),
  }),
  decision(
    0.8,
    r`^(?:it(?:'s| is| was)|that(?:'s| is| was)) (?:now )?(?:decided|agreed|official|settled)(?: that|:) (?<what>\S+ \S+.*)`,
  ),
  decision(
    0.8,
    r`^(?:that(?:'s| is| was)|it(?:'s| is)) (?:now )?(?:decided|agreed|official|settled|final|a (?:final )?decision)[.!]*$`,
    { back: true },
  ),
  decision(
    0.8,
    r`^(?:decided|agreed|settled|final|final decision)(?:[.!]*$|,? (?:because|since|as) \S|, (?:we|it|they|the|our) \S+ \S)`,
    {
      back: true,
    },
  ),
  decision(
    0.8,
    r`^(?:wir haben (?:uns )?(?:heute |gestern |gerade )?(?:entschieden|beschlossen|vereinbart|geeinigt)|es ist (?:entschieden|beschlossen)|(?:on a|nous avons) (?:décidé|convenu)|hemos (?:decidido|acordado)|se ha decidido)(?![\p{L}])(?!.*(?<!\p{L})(?:nicht|ob|noch|später)(?!\p{L})).{8,}`,
  ),
  decision(0.75, r`^(?:we|\w+ and i|\w+ and \w+) (?:decided|agreed on|settled) (?:it|that|this)\b`, { back: true }),

  decision(
    0.8,
    r`^the reason (?:why )?we (?:still |always |never |don't |do not )?(?:pin|keep|avoid|moved|chose|left|dropped|ship|support)\b.{2,80}(?:: | is )\S+ \S+ \S`,
  ),
  decision(0.75, r`^(?!(?:it|this|that)\b).{3,80} (?:has to|have to|must|needs? to) stay\b`, {
    when: (_, plain) => /\b(?:because|since|otherwise) .*\p{Lu}\p{Ll}/u.test(plain) && !isBreakage(plain),
  }),
  decision(0.8, r`^[\w .+#-]{2,40} (?:it is|then)\b`, { when: (_, plain) => isFinal(plain) }),
  decision(0.8, r`^we went with \S`, {
    when: (s, plain) => s.dated || s.reasoned || /\b(?:in the end|eventually|finally)\b/i.test(plain),
  }),
  decision(
    0.8,
    r`^(?!i\b).{8,200}?,? (?:as )?(?:decided|agreed|approved|signed off) (?:in|at|by|with|on|yesterday|last|during|this)\b`,
  ),
  decision(
    0.8,
    r`^(?:then |so )?we(?:'re| are|'ll| will)? (?:now |also )?(?:go|going|cut over|cutting over|stick|sticking|stay|staying|move|moving|switch|switching|migrate|migrating) (?:with|to|on|from|away from|over to)\b`,
    { when: (s, plain) => s.dated || isFinal(plain) || /, not \S/i.test(plain) },
  ),
  decision(
    0.8,
    r`^(?:then |so )?we(?:'re| are|'ll| will)? (?:now |also )?(?:drop|dropping|remov(?:e|ing)|deprecat(?:e|ing)|sunset(?:ting)?|retir(?:e|ing)|replac(?:e|ing)|adopt(?:ing)?|stop(?:ping)?|launch(?:ing)?|releas(?:e|ing)|ship(?:ping)?|freez(?:e|ing)|upgrad(?:e|ing)|hir(?:e|ing)) \S`,
    { when: (s, plain) => s.dated || isFinal(plain) },
  ),
  decision(
    0.8,
    r`^.{10,200}\b(?:so|since then|therefore|that's why) we (?:now|no longer|always|never|stopped|have to|must)\b`,
  ),
  decision(
    0.75,
    r`\b(?:was|were) [a-z]+ for .{1,15}\b(?:hours?|days?)\b|\b(?:was|were|went|been) (?:down|offline|unavailable|lost|corrupted|leaked|breached)\b|\b(?:outage|data loss|ran out of|(?:lost|corrupted|leaked|wiped|deleted) (?:\S+ ){0,5}(?:data|records|hours|backups?|rows|orders|files)|broke (?:production|prod))\b`,
    { when: (s) => s.dated },
  ),
  // What reached people outside, and why.
  decision(
    0.75,
    r`^(?=.*\b(?:yesterday|last|ago|on [a-z]+day)\b)(?=.*\b(?:customers?|clients?|patients?|hospitals?|orders|invoices?|payments|production|prod)\b).*\bbecause (?!of\b)\S+ \S+ \S`,
    { when: (s) => s.dated },
  ),
  decision(0.8, r`^[\p{L}'’-]{2,30} last day is\b`, { when: (s) => s.dated }),
  decision(0.75, r`^no (?:deploy(?:s|ments)?|merges?|releases?|pushes) \S.*, (?:the|we|they|our|it)\b`, {
    when: (s, plain) => s.dated && !isBreakage(plain),
  }),
  decision(0.8, r`^(?:the |our )?(?:[\w-]+ )?deadline\b.{0,60} (?:is|was|moved|moves)\b`, {
    when: (s, plain) => s.dated && plain.split(" ").length > 4,
  }),
  decision(
    0.75,
    r`^(?:i'm|i am|i'll be|i will be) (?:out of (?:the )?office|out (?:from|until|on|next|all)|away|off|on (?:leave|vacation|holiday|parental leave|sabbatical))\b`,
    { when: (s) => s.dated },
  ),
  decision(0.75, r`^since \S+.{3,30} (?:all|every|each|nobody|no) \S+ \S`, {
    when: (s, plain) => s.dated && !isBreakage(plain),
  }),
  decision(0.75, r`^.{10,200}\bsince then,? (?!(?:it|i)\b)\S+ \S+ \S`, { when: (s) => s.dated }),
  decision(0.75, r`^(?:as of|effective|starting|beginning|from) \S+.{10,}`, {
    when: (s, plain) => s.dated && !isBreakage(plain),
  }),
  decision(0.8, r`^(?!(?:i|i'll|i'm|let's|let)\b)\S.{0,300}? ${EVENT}\b`, {
    // What should be is asked of the program.
    when: (s, plain) => s.dated && !isBreakage(plain) && !/\bshould\b/i.test(plain),
  }),
  decision(0.7, r`^(?!(?:i|i'll|i'm|let's|let)\b)\S+ \S+ \S+ \S+`, {
    when: (s, plain) => s.announced && s.dated && !isBreakage(plain),
  }),
];
