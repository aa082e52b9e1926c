/** Decisions, dates and events of a project. */

import { isOrder } from "./said-gates.ts";
import { type Row, row } from "./said-row.ts";

const r = String.raw;
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
