/** Corrections and rules for the agent's work. */

import { type Row, row, type Setting } from "./said-row.ts";

/** Words that make a sentence hold for more than one case. */
const GENERAL =
  /\b(?:any(?:thing|where|one|body)?|ever|every(?:thing|where|one)?|always|never|yourself|again|unless|whenever|without asking|each|by default|as a rule|in (?:the )?(?:[\w-]+ )?(?:tests|docs|code|repo|repository|project|codebase|production|prod|api|commits?|commit messages|comments|changelog|answers|responses))\b|\bunder \S+\//i;
/** What is broken now is for the session, not for memory. */
const BREAKAGE = /\b(?:bugs?|errors?|crash(?:es|ed)?|failing|fail(?:s|ed)?|broken|red|takes|hangs?|still)\b/i;
const HOUSE =
  /\b(?:everywhere|anywhere|always|(?:in|for) (?:everything|all|every|any)|(?:in|across) (?:this|the|our) (?:\w+ )?(?:repo|repository|project|codebase|team|company|monorepo))\b/i;

/** "don't push the branch, tests are red" is about this branch; "don't reformat files …, it ruins blame" about all of them. */
function isLasting({ corrected, reasoned }: Setting, plain: string): boolean {
  const one = /^\S+(?: not)? (?:ever )?[a-z]+ (?:it|this|that|these|those|them|the|my|your|an?|another)\b/i.test(plain);
  const because = /, (?:the|it|they|that|we|nobody|our|this|he|she|otherwise|\w+ing)\b/i.test(plain);
  const many =
    /^\S+(?: not)? (?:ever )?[a-z]+ (?!(?:the|my|your|this|these|those|his|her|its)\b)(?:[\w-]+ ){0,2}[\w-]+s (?:by|with|without|through|via) /i.test(
      plain,
    );
  const told = reasoned || because;
  return many || GENERAL.test(plain) || (one ? corrected && told : corrected || told);
}

/** "Never trust a float" is what everybody says. */
function isNoSaying({ corrected, reasoned }: Setting, plain: string): boolean {
  return corrected || reasoned || !SAYING.test(plain);
}

const SAYING = /^(?:never|always) (?:ever )?(?:(?:trust|believe|assume|underestimate)\b|[a-z]+ an? [\w-]+[.!]*$)/i;

/** "We never close the handle, that's the leak" describes the code; "we never squash migrations" describes the people. */
function isCustom({ corrected, reasoned }: Setting, plain: string): boolean {
  const one = /^we \S+(?: not| longer)? [a-z]+ (?:it|this|that|these|those|them|the|an?)\b/i.test(plain);
  if (/, (?:so it|that's|thats|which is)\b/i.test(plain)) return false;
  return !one || corrected || reasoned || GENERAL.test(plain);
}

const r = String.raw;
const correction = row.bind(null, "correction", "feedback");
const rule = row.bind(null, "preference", "feedback");

/** A verb in its base form: not "always fails", "never worked". */
const VERB = r`(?!(?:[a-z]*[^s\W]s|[a-z]+ed|mind|heard|seen|had|been|knew|thought|got|did|was|were|a|an|the|in|on|at|understood|again|happy|glad|good|nice|great|fun|right|wrong|true|welcome|same|more|there|here|ready|possible|ok|better|worth|too|null|undefined|empty|zero|false)\b)[a-z]+`;

/** What people make at work and have conventions for. */
const WORKS =
  "(?:commits|(?:commit|error|log) messages|commit subjects|branches|branch names|prs|pull requests|release notes|changelogs?|manuals?|docs|migrations|test names|file names|identifiers|docstrings|comments|versions|releases|reviews|deploys|tickets|reports|estimates)";
export const CORRECTIONS: readonly Row[] = [
  correction(
    0.9,
    r`^(?:i(?:'ve| have)? (?:already )?told you(?: (?:before|already|twice|many times))?|i keep telling you|as i (?:said|told you)(?: before| already)?)(?: that)?[,:]? (?!so\b|about\b|to\b)(?<what>\S+ \S+.*)`,
    {
      when: (_, plain) => /\b(?:never|always|not|no|don't|doesn't|aren't|must|should|only|use|we)\b/i.test(plain),
      order: true,
    },
  ),
  correction(
    0.85,
    r`^i(?:'ve| have)? (?:already )?(?:told|asked) you (?<what>(?:not to|never to|to (?:always|never|only)) \S+.*)`,
    { when: (_, plain) => !/\b(?:that|this|the) [\w-]+[.!]*$/i.test(plain), order: true },
  ),
  row(
    "correction",
    null,
    0.75,
    r`^(?:that's|thats|that is|this is|you're|you are|that was) (?:just |simply |still )?(?:wrong|not right|incorrect|not correct|not true|mistaken|outdated|not how we [^,.;:]{2,30})[,;:.] ?(?<what>\S+ \S+ \S+.*)`,
    // "that's wrong, the index starts at one" is about the line at hand.
    {
      when: (s, plain) => s.reasoned || /, not |\b(?:any ?more|no longer|instead|always|never)\b/i.test(plain),
    },
  ),
  correction(0.85, r`^never (?:ever )?${VERB}(?! (?:it|this|that|so|never)[.!]*$)`, { when: isNoSaying, order: true }),
  rule(0.9, r`^always ${VERB} \S`, { when: isNoSaying, order: true }),
  rule(0.85, r`^(?:make sure|be sure|ensure)(?: that)?(?: you| to| we)? (?:always|never) \S`, {
    when: (s) => s.corrected || s.reasoned,
    order: true,
  }),
  correction(
    0.85,
    r`^stop (?!asking and|running|watching|building|working|using (?:it|this|that)\b)[a-z]+ing\b(?! (?:it|this|that|them)[.!]*$)`,
    { order: true },
  ),
  correction(0.8, r`^no more (?!of|today|for|than|bikeshedding|questions)[a-z]+ `, { order: true }),
  correction(
    0.75,
    r`^no (?!idea|problem|need|worries|changes?|longer|one|plan|rush|big|luck|difference|way|time)[\w-]+ (?:[\w-]+ )?(?:in|on|for|under|without|before|outside) \S`,
    { when: (s) => s.corrected || s.reasoned },
  ),
  correction(
    0.85,
    r`^we (?:do not|don't|dont|never|always|no longer) (?!know|have|need|get|care|see|think|want|remember|seem|support|got|had|did|saw|understand|expect|fail|crash|end up|forget|win|lose|laugh|joke|eat|drink|celebrate|meet|sing|go out|hang out|argue|complain|say|talk|wonder|do (?:any|some|no)thing)[a-z]+(?<!ed)\b`,
    { when: isCustom },
  ),
  correction(
    0.85,
    r`^we (?:use|write|spell|call|name|format|say|put|number) (?!(?:the same|a similar|this|that|it)\b)\S.{0,60}?(?:,? (?:not|never|instead of|rather than)|, no) \S`,
  ),
  correction(0.8, r`^we (?:use|want|prefer|write|keep|like|return|call|spell|put) \S`, {
    when: (s, plain) => s.corrected || HOUSE.test(plain),
  }),
  correction(
    0.85,
    r`^(?:use|write|call it|say|put|name) \S.{0,80}?(?<!\b(?:are|is|was|were|do|does|did|can|will))(?:,| and| but)? (?:not|never|instead of|rather than) \S`,
    { when: (s, plain) => s.corrected || HOUSE.test(plain), order: true },
  ),
  correction(
    0.8,
    r`^(?:do not|don't|dont) (?:ever )?(?!forget|remember|worry|know|think|care|mind|see|have|need|get|you|we|i\b|understand|want|let me|bother|ask why|like)[a-z]+ \S+`,
    { when: isLasting, order: true },
  ),
  correction(
    0.8,
    r`^(?:(?:keep your )?hands off|stay away from|stay out of|keep out of) (?!it\b|that\b|this\b)\S+|^leave (?!it\b|that\b|this\b)\S.{0,60} alone\b`,
    { order: true },
  ),
  correction(
    0.85,
    r`^next time,? (?:you (?:should|must|can) |please |just |only )*(?!(?:the|it|a|an|i|i'll|we|we'll|this|that|someone|he|she|they|there|you|around)\b)\S+ \S+`,
    { order: true },
  ),
  correction(
    0.8,
    r`^(?:always )?(?:ask|check with|tell|warn|consult) (?:me|us) (?:first )?before (?!you (?:start|go|begin)\b)(?:you (?:ever )?)?\S+`,
    {
      when: (_, plain) => /\bbefore (?:\S+ing|you ever)\b|\b(?:anything|any|every|each)\b/i.test(plain),
      order: true,
    },
  ),
  correction(
    0.8,
    r`^(?!(?:it|this|that)\b)(?:[\w.-]+ ){1,4}(?:is|are) (?:banned|forbidden|not allowed|a no-?go) (?:in|for|on) (?:this|our|the) (?:repo|repository|code ?base|project|team|company)\b`,
  ),
  correction(0.85, r`^you (?:should|must|have to|need to|may) (?:always|never) `),
  correction(
    0.85,
    r`^(?:the|our) (?:rule|convention|policy|standard|agreement)(?: here)? is\b(?! (?:in|at|on|under|wrong|broken|not|missing)\b)`,
  ),
  correction(0.75, r`^(?!(?:it|this|that|there)\b)(?:\S+ ){1,6}must (?:never|always|not|only|stay|remain)\b`, {
    when: (s, plain) => s.corrected || (s.reasoned && !/^(?:the|an?|users?)\b/i.test(plain) && !BREAKAGE.test(plain)),
  }),
  rule(
    0.8,
    r`^(?:use|write|give|show|ask|put|keep|make|answer|reply|prefer|include|explain|send|start|name|run|leave|skip|omit|drop|avoid|stay|stick|split|attach|link|mention)\b(?!.*\b(?:that way|like (?:that|this)|same way)\b).{3,200}\b(?:always|every (?:single )?time|everywhere|each time|by default|as a rule|before (?:each|every) \w+)(?:[.!]*$|(?<=, always) (?:with|in|as|by)\b)`,
    { order: true },
  ),
  rule(
    0.75,
    r`^(?:whenever|every time|each time|any time|when) you (?:write|add|create|change|touch|edit|update|generate|open|commit|name|refactor|review|explain|answer|show|(?:give|send|show|suggest|paste) me|propose|cite|quote)\b.{3,100}, (?!(?:it|the|i|we|you|there|this|that|they)\b)[a-z]+ \S`,
  ),
  rule(
    0.75,
    r`^(?:before|after) (?:every|each|any) .{3,60}, (?!(?:it|the|i|we|there|this|that|they|but|so|and|which|where|when|then)\b)[a-z]+ \S`,
  ),
  rule(0.75, r`^(?!i\b).{6,80} when(?:ever)? i (?:ask|write|send|paste|give you|show you)\b`, { order: true }),
  // "no, API identifiers are American": a bare plural speaks of all of them, where "the test is …" speaks of one.
  correction(
    0.7,
    r`^(?!(?:the|a|an|this|that|these|those|they|we|i|you|there|he|she|my|your|both|some|still|tests?|all)\b|it)(?:[\w-]+ ){1,4}(?:are|go|belong|live|come|stay|return|use|get|have|need)\b(?! (?:\w+ing|still|not|now|red|green|broken|fine|done|ok|missing|gone|wrong|empty|too)\b)`,
    {
      when: (s, plain) =>
        s.corrected && (s.reasoned || plain.split(" ").length > 8) && !/\b(?:here|there)\b/i.test(plain),
    },
  ),
  correction(
    0.7,
    r`^(?!(?:the|a|an|this|that|he|she|my|your)\b|it)(?:[\w-]+ ){1,4}(?:is|are|gets?) (?:always |never |only )?(?:stored|written|kept|spelled|sent|measured|handled|named|deployed|generated|done|counted|logged|validated)\b`,
    { when: (s) => s.corrected },
  ),
  correction(
    0.75,
    r`^(?:(?:every|each|any) (?!(?:time|one|of)\b)\S.{5,}|our [\w-]+(?: [\w-]+)?s (?:are|return|use|go|have|need|must|should|never|always)\b)`,
    {
      when: (s, plain) => s.corrected && !BREAKAGE.test(plain),
    },
  ),
  correction(0.75, r`^(?!(?:this|his|tests)\b)[\w-]+s .{3,80}, not \S`, { when: (s) => s.corrected }),
  correction(0.75, r`^(?:our (?:[\w-]+ ){0,2})?${WORKS} (?:are|is|use|go|have|get|carry) .{3,80}, not \S`, {
    when: (_, plain) => !BREAKAGE.test(plain),
  }),
  correction(
    0.75,
    r`^(?!(?:the|this|that|it|they)\b)(?:[\w-]+ ){1,5}(?:go|goes|belong|belongs) (?:in|into|under|to) \S+, not \S`,
    { when: (s) => s.corrected },
  ),
  correction(0.75, r`^the [\w-]+ (?:never|always|only) [a-z]+s\b`, {
    when: (s, plain) => s.corrected && !BREAKAGE.test(plain),
  }),
  correction(
    0.75,
    r`^in (?:this|our) (?:repo|repository|project|team|codebase|company),? (?!(?:there|i)\b)\S+ \S+ \S`,
    {
      when: (s, plain) => s.corrected && !BREAKAGE.test(plain),
    },
  ),
  rule(
    0.8,
    r`^before (?:you )?(?:touch|chang|delet|edit|merg|deploy|releas|renam|remov|updat)\w* (?!(?:it|this|that)\b).{3,60}?,? (?:always |please )?(?:talk to|ask|check with|tell|ping|warn) (?!(?:me )?(?:if|why|what)\b)\S+(?!.*\b(?:if|whether)\b)`,
  ),
  correction(
    0.75,
    r`^(?:keep|leave|put) (?!(?:it|this|that|them)\b)\S.{2,60} (?:in|under) [\w.-]+\/\S*, (?:the|it|they|we|our|nobody)\b`,
    { when: (s) => s.corrected, order: true },
  ),
  rule(0.75, r`^(?!i\b).{6,80} when(?:ever)? you (?:talk|speak|write) to me\b`, { order: true }),
  rule(0.8, r`^when in doubt\b.{0,60}, (?:ask|use|check|prefer|leave|keep) \S`),
  correction(0.8, r`^we (?:must|may|should|can) (?:not|never) (?!(?:be|have|forget|know|find|see)\b)[a-z]+ \S`, {
    when: (s, plain) =>
      (s.corrected || GENERAL.test(plain)) && !BREAKAGE.test(plain) && !/\b(?:here|there)\b/i.test(plain),
  }),
  rule(
    0.75,
    r`^keep (?!(?:the|this|that|these|those|my)\b)(?:[\w-]+ ){0,2}[\w-]+s (?:under|below|short|small|narrow|out of|away from)\b.*, (?:i|we|they|the|it|our|otherwise)\b`,
    { order: true },
  ),
  rule(
    0.75,
    r`^(?:give|show|write|send|use|keep|put) (?!(?:me )?(?:the|this|that|it|a|an|my|these|those|port|branch|version|file|folder)\b)(?!.*\d).{3,80}?(?: please)?(?:,| -|;) (?:because |since |as )?i(?:'m| am| sit| work| read| live| can't| cannot| don't have| use)\b`,
    { order: true },
  ),
  // Who may do it and what is never done, said of all such things: "decoders are never removed".
  correction(
    0.75,
    r`^(?:.{3,120}, so )?(?!(?:the|a|an|this|that|these|those|it|they|he|she|there|my|your)\b)(?:[\w/.-]+ ){1,5}(?:is|are|gets?) (?:only |never |always )(?:ever )?(?:changed|edited|touched|merged|deployed|approved|reviewed|released|signed|removed|deleted|renamed|committed|published|rebased|squashed|generated)\b`,
    {
      when: (s, plain) => (s.corrected || /\bonly \w+ by\b|, so /i.test(plain)) && !BREAKAGE.test(plain),
    },
  ),
  correction(
    0.75,
    r`^(?!(?:the|a|an|this|that|these|those|it|they|he|she|there|my|your|tests)\b)(?:[\w/-]+ ){0,3}[\w-]+s (?:always|never) (?:get|go|need|have|start|use|come|carry|contain)\b(?!.*\b(?:here|there)\b)`,
    { when: (s, plain) => s.corrected && !BREAKAGE.test(plain) },
  ),
  correction(
    0.75,
    r`^(?:our |all )?(?:[\w-]+ )?${WORKS} (?:need|must|have to|should|go|start|end|use|get|carry|are (?:written|named|grouped|sorted|kept)|always|never)\b(?!.*\b(?:now|again|still|first|yet)\b)`,
    { when: (s, plain) => (s.corrected || s.reasoned) && !BREAKAGE.test(plain) },
  ),
  rule(
    0.75,
    r`^(?!(?:it|this|that)\b).{3,80} (?:is|are) the (?:way to go|right way|way (?:i|we) (?:want|like|do) it) (?:for|in|with) (?:all|every|any|each|everything)\b`,
  ),
  correction(
    0.8,
    r`^(?:.{0,60}\b)?(?:in general|as a (?:general )?(?:rule|policy)|as a matter of principle)[:,] (?<what>\S+ \S+ \S+.*)`,
    { order: true },
  ),
  correction(0.75, r`^i(?:'ve| have)? (?:already )?(?:said|told you|mentioned) (?:this|that|so)\b(?: \S+){0,6}$`, {
    back: true,
  }),
  correction(
    0.8,
    r`^(?:that|this|it|same|the same) (?:goes|applies|holds|rule applies) (?:for|to) (?:any|all|every|each|everything)\b`,
    { back: true },
  ),
  correction(0.75, r`^[\w-]+(?: [\w-]+)? only\b`, { when: (s) => s.corrected }),
  correction(0.8, r`^(?:always )?ask (?:first )?before you (?:ever )?\S+ .{2,}`, {
    when: (_, plain) => GENERAL.test(plain),
    order: true,
  }),
];
