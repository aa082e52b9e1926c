/** What a sentence worth keeping looks like, and what it becomes: the tables of patterns, and how a row is matched. */

import type { MemoryType } from "../store/store.ts";
import { isOrder } from "./said-gates.ts";
import { BLANK } from "./said-speech.ts";
import { ADDRESS, PLACE, SYSTEM } from "./said-statement.ts";

export type Act = "remember" | "forget" | "correction" | "preference" | "decision" | "pointer";

/** What is known of a sentence besides its words. */
export interface Setting {
  /** It follows a "no": the person says how it is instead. */
  corrected: boolean;
  /** A reason is given, in the sentence or right after it. */
  reasoned: boolean;
  /** It is announced ("heads up", "by the way"), so it is said for its own sake. */
  announced: boolean;
  /** It names a day or a month. */
  dated: boolean;
}

export interface Row {
  /** A group `what` is the statement, else it is the whole sentence. */
  pattern: RegExp;
  act: Act;
  /** null: by the words of the statement. */
  type: MemoryType | null;
  confidence: number;
  /**
   * `order`: an order for work may match, as the pattern itself says that it holds for longer than the task. `back`: it speaks
   * of the sentence before it ("that's decided"). `rule`: what follows is how things are to be done.
   */
  marks: ReadonlySet<string>;
  /** Whether what it needs besides its pattern is there; for patterns that are too general on their own. */
  isMet: Condition;
}

type Condition = (plain: string, setting: Setting) => boolean;

/** What a row becomes, by its first column. */
const KINDS: Readonly<Record<string, [Act, MemoryType | null]>> = {
  remember: ["remember", null],
  forget: ["forget", null],
  correction: ["correction", "feedback"],
  wrong: ["correction", null],
  preference: ["preference", "feedback"],
  person: ["preference", "user"],
  pointer: ["pointer", "reference"],
  decision: ["decision", "project"],
};

const MARKS: ReadonlySet<string> = new Set(["order", "back", "rule"]);

/**
 * A row a line: its kind, how sure it is, what it needs, its pattern. Needs are separated by commas and all must hold: the marks
 * of a row, or conditions; `a|b` is one of them, `!a` not this one, `words>3` a longer sentence.
 */
function readRows(flags: string, table: string): Row[] {
  const lines = table.split("\n").filter((line) => line !== "" && !line.startsWith("//"));
  return lines.map((line) => {
    const [, kind = "", confidence, needs = "", source = ""] = /^(\S+) (\S+) (\S+) (.+)$/.exec(line) ?? [];
    const [act, type] = KINDS[kind]!;
    const all = needs.split(",").filter((need) => need !== "-");
    const conditions = all.filter((need) => !MARKS.has(need)).map(readNeed);
    return {
      pattern: new RegExp(source, flags),
      act,
      type,
      confidence: Number(confidence),
      marks: new Set(all.filter((need) => MARKS.has(need))),
      isMet: (plain, setting) => conditions.every((isMet) => isMet(plain, setting)),
    };
  });
}

function readNeed(need: string): Condition {
  const isHeld = (one: string, plain: string, setting: Setting) =>
    one.startsWith("!") ? !holds(one.slice(1), plain, setting) : holds(one, plain, setting);
  return (plain, setting) => need.split("|").some((one) => isHeld(one, plain, setting));
}

function holds(condition: string, plain: string, setting: Setting): boolean {
  if (condition in setting) return setting[condition as keyof Setting];
  const [, words] = /^words>(\d+)$/.exec(condition) ?? [];
  if (words !== undefined) return plain.split(" ").length > Number(words);
  const known = CONDITIONS[condition]!;
  return known instanceof RegExp ? known.test(plain) : known(plain, setting);
}

/** Words that make a sentence hold for more than one case. */
const GENERAL =
  /\b(?:any(?:thing|where|one|body)?|ever|every(?:thing|where|one)?|always|never|yourself|again|unless|whenever|without asking|each|by default|as a rule|in (?:the )?(?:[\w-]+ )?(?:tests|docs|code|repo|repository|project|codebase|production|prod|api|commits?|commit messages|comments|changelog|answers|responses))\b|\bunder \S+\//i;
const FINAL = /\b(?:final|decided|for good|settled|agreed|official|period)\b/i;

const CONDITIONS: Readonly<Record<string, RegExp | Condition>> = {
  general: GENERAL,
  // What is broken now is for the session, not for memory.
  broken: /\b(?:bugs?|errors?|crash(?:es|ed)?|failing|fail(?:s|ed)?|broken|red|takes|hangs?|still)\b/i,
  program:
    /\b(?:bug|errors?|crash(?:es|ed)?|failing|fails?|broken|red|green|memory|regression|exception|stuck|fixtures?|seed data|mock|test data|date ?picker|url|field|dropdown|placeholder|variable|regex|function|method)\b/i,
  house:
    /\b(?:everywhere|anywhere|always|(?:in|for) (?:everything|all|every|any)|(?:in|across) (?:this|the|our) (?:\w+ )?(?:repo|repository|project|codebase|team|company|monorepo))\b/i,
  lasting: isLasting,
  // "Never trust a float" is what everybody says.
  saying: /^(?:never|always) (?:ever )?(?:(?:trust|believe|assume|underestimate)\b|[a-z]+ an? [\w-]+[.!]*$)/i,
  // "We never close the handle, that's the leak" describes the code; "we never squash migrations" describes the people.
  described: /, (?:so it|that's|thats|which is)\b/i,
  single: /^we \S+(?: not| longer)? [a-z]+ (?:it|this|that|these|those|them|the|an?)\b/i,
  demand: /\b(?:never|always|not|no|don't|doesn't|aren't|must|should|only|use|we)\b/i,
  "at-hand": /\b(?:that|this|the) [\w-]+[.!]*$/i,
  // "that's wrong, the index starts at one" is about the line at hand.
  contrast: /, not |\b(?:any ?more|no longer|instead|always|never)\b/i,
  instead: /, not \S/i,
  "before-any": /\bbefore (?:\S+ing|you ever)\b|\b(?:anything|any|every|each)\b/i,
  article: /^(?:the|an?|users?)\b/i,
  here: /\b(?:here|there)\b/i,
  should: /\bshould\b/i,
  "only-by": /\bonly \w+ by\b|, so /i,
  // The capital letter is what makes it a name; the patterns themselves ignore case.
  capital: /^\p{Lu}\p{Ll}/u,
  pronoun: /^(?:He|She|It|They|This|That|Who|We|You|Everyone|Nobody)\b/,
  "own-name": /^(?:[Ii]'m|[Ii] am|[Ii]m|[Mm]y name is) \p{Lu}\p{Ll}/u,
  "named-reason": /\b(?:because|since|otherwise) .*\p{Lu}\p{Ll}/u,
  "named-system": /\b(?:in|on|at|under) \p{Lu}[\w.-]+(?: [\w.-]+)?, /u,
  stated: /\b(?:is|are|comes?|lives?|that's)\b/i,
  errand: isErrand,
  final: FINAL,
  settled: (plain) => FINAL.test(plain.replace(/^.{0,40}?(?:decided|agreed)/i, "")),
  eventually: /\b(?:in the end|eventually|finally)\b/i,
  orders: (plain) => isOrder(plain.slice(plain.indexOf(":") + 1).trim()),
};

/** "don't push the branch, tests are red" is about this branch; "don't reformat files …, it ruins blame" about all of them. */
function isLasting(plain: string, { corrected, reasoned }: Setting): boolean {
  const one = /^\S+(?: not)? (?:ever )?[a-z]+ (?:it|this|that|these|those|them|the|my|your|an?|another)\b/i.test(plain);
  const because = /, (?:the|it|they|that|we|nobody|our|this|he|she|otherwise|\w+ing)\b/i.test(plain);
  const many =
    /^\S+(?: not)? (?:ever )?[a-z]+ (?!(?:the|my|your|this|these|those|his|her|its)\b)(?:[\w-]+ ){0,2}[\w-]+s (?:by|with|without|through|via) /i.test(
      plain,
    );
  const told = reasoned || because;
  return many || GENERAL.test(plain) || (one ? corrected && told : corrected || told);
}

/** What anyone can look up. */
const PUBLIC =
  /\b(?:docs\.rs|crates\.io|npmjs|pypi|github\.com|stackoverflow|readthedocs|mozilla\.org|wikipedia|youtube|medium\.com|reddit)\b|\bdocumented at\b/i;

/** "…, implement what it says" makes it a task. */
function isErrand(plain: string): boolean {
  return (
    (PUBLIC.test(plain) && !/\b(?:our|we)\b/i.test(plain)) ||
    /, (?:(?:please|just|so|then) )*(?:download|grab|take|copy|pick|implement|fix|do|add|review|read|(?:look|check|see)(?! there\b)|open|apply|summari[sz]e|download|try)\b/i.test(
      plain,
    )
  );
}

const r = String.raw;

/** What may come before a request: small talk, and the end of another clause. */
const LEAD = r`(?:(?:please|pls|plz|ok(?:ay)?|oh|ah|hey|hi|hello|yes|yep|yeah|no|nope|wait|so|and|also|but|btw|by the way|thanks|thx|great|good|nice|cool|right|just|one more thing|one thing|important|sorry|note|reminder|fyi|heads up|quick note|actually|then|now|always|bitte|und|ach ja|übrigens|s'il te plaît|por favor|y|et)(?:[,:;.!]| -|)\s+){0,5}`;
const START = `^${LEAD}`;
/** Also in the middle of a sentence, behind a comma: "it works, and please remember that …". */
const CLAUSE = r`(?:^|[,;–—]\s|\s-\s|\s(?:and|but|also)\s)${LEAD}`;
const WHAT = "(?<what>.*)$";
/** "remember for next time that …" */
const LATER = "(?: for (?:next time|later|the future|later sessions|future sessions|future reference))?";
const THAT = r`(?:\s*[:,]|\s+(?:(?:that|the following|also|how|too)\b[:,]?|this\s*[:,-])|)\s*`;

/** Explicit requests to remember or forget, in the most common languages. In order: "don't forget" comes before "forget". */
export const REQUESTS = readRows(
  "di",
  r`
remember 0.95 - ${CLAUSE}(?:do not|don't|dont|never) (?:ever )?forget(?! about it\b)(?:\s*[:,]|\s+(?:that|about|this)\b[:,]?|)\s*${WHAT}
remember 0.95 - ${START}(?:i (?:want|need|would like|'d like) you to|you (?:should|must|need to|have to)) (?:always )?(?:remember|keep in mind|know|note)${THAT}${WHAT}
remember 0.95 - ${START}(?:can|could|would|will) you (?:please )?(?:remember|keep in mind|note|save|store|memori[sz]e|make a (?:mental )?note)${LATER} (?:that|this:)\s*${WHAT}
remember 0.95 - ${START}(?:(?:one|another|a|some) (?:more )?things?|something|what|things) (?:you should |you must |to )(?:remember|keep in mind|note|know)${LATER}\s*[:,-]\s*${WHAT}
// "remember when …" and "remember me" reminisce.
remember 0.95 - ${CLAUSE}(?:always )?(?:remember|memori[sz]e|keep in (?:mind|memory)|bear in mind)(?! (?:when|me|how (?:we|i|you)|last time|the (?:time|days))\b|\?)${LATER}${THAT}${WHAT}
remember 0.95 - ${START}(?:make|take|keep|leave) a (?:mental )?note${LATER}(?! of (?:the|how|what)\b| (?:in|on|at|to|under) )(?:\s*:|\s+(?:that|of|to self|of this)\b[:,]?|)\s*${WHAT}
remember 0.95 - ${START}(?:notes?|memo) (?:to (?:self|you|yourself)|for (?:next time|later|the future|future sessions|yourself))\s*[:,-]\s*${WHAT}
remember 0.95 - ${START}note (?:that |this: ?|: ?)?(?<what>.*?),? (?:for|the) (?:next time|the future|later|future reference|future sessions)[.!]*$
remember 0.95 - ${START}(?:save|store|add|put|write|record|commit) (?:this|that|it|the following)?\s*(?:down|to memory|in(?:to)? (?:your )?memory|to your memory|as a memory|in your notes|to your notes)(?![.\w/-])\s*[:,-]?\s*(?:that\s+)?${WHAT}
remember 0.95 - ${START}for the record\s*:(?!\s*i (?:never|didn't|did|told|said|was)\b)\s*${WHAT}
remember 0.95 - ${START}(?:save|store|memori[sz]e|record) (?:this|the following)\s*[:,-]\s*${WHAT}
remember 0.95 - ${START}(?:for (?:future reference|later reference|next time|the future|future sessions)|just so you know for (?:later|next time))\s*[:,-]?\s*${WHAT}
remember 0.95 rule ${START}(?:from now on(?:wards?)?|from here on(?: out)?|going forwards?|moving forwards?|henceforth|hereafter|in (?:the )?future(?=,| please| always| never| don't| do not| use| ask| write| just))\s*[:,-]?\s*${WHAT}
remember 0.95 rule ^${LEAD}(?<what>.*\w),? (?:from now on|going forward|henceforth|in all future sessions)[.!]*$
remember 0.95 - ${CLAUSE}(?:merke? dir|denke? (?:bitte |in zukunft |künftig )?dara?n|behalte? (?:bitte )?im (?:hinter)?kopf|notiere? dir)(?: bitte)?(?: für (?:die Zukunft|später|das nächste Mal))?\s*[:,]?\s*(?:dass\s+)?${WHAT}
remember 0.95 - ${START}(?:(?:bitte )?merken|(?:bitte )?nicht vergessen|à (?:retenir|noter))\s*:\s*${WHAT}
remember 0.95 - ${START}vergiss (?:bitte )?nicht\s*[:,]?\s*(?:dass\s+)?${WHAT}
remember 0.95 rule ${START}(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in zukunft|künftig|zukünftig|fortan)\b\s*[:,]?\s*${WHAT}
remember 0.95 - ${START}(?:(?:souviens|souvenez|rappelle|rappelez)-(?:toi|vous)(?: bien)?|retiens|retenez|mémorise[rz]?|n'oublie[zs]? pas|garde[zs]? (?:en tête|à l'esprit)|notez? bien)\s*[:,]?\s*(?:que\s+|qu'|de\s+)?${WHAT}
remember 0.95 rule ${START}(?:dorénavant|désormais|à partir de maintenant|à l'avenir)\s*[:,]?\s*${WHAT}
remember 0.95 - ${START}(?:recuerda|recuerde|acuérdate de|no (?:te )?olvides|ten(?:ga)? en cuenta|toma nota(?: de)?|anota|memoriza)\s*[:,]?\s*(?:que\s+)?${WHAT}
remember 0.95 rule ${START}(?:a partir de ahora|de ahora en adelante|en adelante)\s*[:,]?\s*${WHAT}
remember 0.95 - ${START}(?:lembre-se(?: de)?|lembra-te(?: de)?|não (?:se )?esqueça|ricordati|ricorda|non dimenticare|onthoud|vergeet niet)\s*[:,]?\s*(?:que\s+|che\s+|dat\s+|di\s+)?${WHAT}
remember 0.95 - ^(?:好的?[，,。]?)?(?:另外[，,]?)?(?:请|請|麻烦|麻煩)?(?:你)?(?:帮我|幫我)?(?:一定要)?(?:记住|記住|牢记|记下|記下|记一下|記一下|记得|記得|别忘了|別忘了|别忘记|不要忘记|不要忘了)\s*[：:，,]?\s*${WHAT}
remember 0.95 rule ^(?:请|請)?(?:从现在起|从现在开始|從現在開始|从今以后|今后|以后)(?!再)\s*[：:，,]?\s*${WHAT}
remember 0.95 - ^(?:これは|次のことを|以下を)?(?:覚えておいて|覚えて|記憶して(?:おいて)?|メモして(?:おいて)?|忘れないで)(?:ください|下さい|ね)?\s*[：:、,。]\s*${WHAT}
remember 0.95 rule ^(?:今後|これから|以後)(?!も)(?:は)?\s*[：:、,]?\s*${WHAT}
remember 0.95 - ^(?<what>.*?)(?:という(?:こと)?|こと|の)?(?:を|は|と)?(?:覚えておいて|忘れないで|記憶して(?:おいて)?|メモして(?:おいて)?)(?:ください|下さい|ね)?[。.!！]*$
remember 0.95 - ^(?:꼭 )?기억해(?: ?줘| ?주세요)?\s*[:,]?\s*${WHAT}
forget 0.9 - ${START}(?:please )?(?:ignore|scratch|disregard|strike|cancel) (?<what>that|this|it|what i (?:just )?said)(?:[,.!;:]|$| (?:please|sorry|i was|it was)\b).*$
forget 0.9 - ${START}(?:i take (?<what>that|it) back)\b.*$
forget 0.9 - ${START}never ?mind (?<what>what i (?:just )?said)\b.*$
forget 0.9 - ${START}(?:you (?:can|may|should) )?forget(?: about)?\b(?! (?:it|me)\b(?! about))\s*[:,]?\s*(?:that\s+(?=\S+\s+\S+\s+\S))?${WHAT}
forget 0.9 - ${START}(?:delete|remove|erase|drop) (?:the |that |your )?(?:memory|note|memories|notes)(?: (?:about|of|on|that|for))?\s*[:,]?\s*${WHAT}
forget 0.9 - ${START}(?:do not|don't|dont) remember (?<what>(?!this\b|that\b|it\b|when\b|where\b).+?) any ?(?:more|longer)\b.*$
forget 0.9 - ${START}(?:vergiss|lösche? (?:bitte )?(?:die )?(?:notiz|erinnerung)) (?!nicht\b)(?:bitte )?(?:,? dass )?${WHAT}
forget 0.9 - ${START}(?:oublie[zs]?|supprime la note)\s+(?!pas\b)${WHAT}
forget 0.9 - ${START}(?:olvida|olvídate de|olvide|borra la nota)\s+${WHAT}
forget 0.9 - ^(?:请|請|麻烦)?(?:忘记|忘記|忘掉|忘了|删除关于)\s*[：:，,]?\s*${WHAT}
forget 0.9 - ^(?<what>.+?)(?:のこと)?(?:は|を)?忘れて(?:ください|下さい|ね)?[。.!！]*$
`,
);

/** A verb in its base form: not "always fails", "never worked". */
const VERB = r`(?!(?:[a-z]*[^s\W]s|[a-z]+ed|mind|heard|seen|had|been|knew|thought|got|did|was|were|a|an|the|in|on|at|understood|again|happy|glad|good|nice|great|fun|right|wrong|true|welcome|same|more|there|here|ready|possible|ok|better|worth|too|null|undefined|empty|zero|false)\b)[a-z]+`;

/** What people make at work and have conventions for. */
const WORKS =
  "(?:commits|(?:commit|error|log) messages|commit subjects|branches|branch names|prs|pull requests|release notes|changelogs?|manuals?|docs|migrations|test names|file names|identifiers|docstrings|comments|versions|releases|reviews|deploys|tickets|reports|estimates)";

const LANGUAGE =
  "(?:english|german|french|spanish|italian|portuguese|dutch|norwegian|swedish|danish|polish|japanese|chinese|korean)";
const ROLE =
  "(?:engineer|developer|dev|programmer|analyst|scientist|designer|manager|lead|owner|maintainer|author|architect|admin|administrator|student|intern|researcher|writer|tester|consultant|founder|cto|ceo|dba|sre|physicist|doctor|teacher|reviewer|contractor|translator|accountant|lawyer|editor)";
const AM = "(?:i'm|i am|im)";
const HOW = "(?:(?:quite|very|totally|completely|fairly|relatively|still|pretty|rather|also|really) )?";
const TEXTS =
  "(?:answers|explanations|commits|commit messages|responses|replies|summaries|pull requests|prs|comments|diffs)";

/** What such systems are divided into. */
const PART =
  "(?:project|space|page|file|board|sheet|doc|document|vault|view|dashboard|schedule|workspace|channel|folder|list|queue|bucket|library|collection|tab|team|component|section|area|stream|drawing)";

/** Things of the moment: where they are is of no use tomorrow. */
const PASSING = r`(?:(?:the|this|that|my|an?|same) (?:[\w-]+ )?(?:ticket|issue|bug|task|pr|pull request|mr|pipeline|deploy|logs?|output|trace|dump|artifact|commit|branch|job|build|run|page|post|article|example|screenshot|stack|diff|typo)\b|(?:the |an? )?(?:[\w-]+ )?(?:errors?|failures?)\b(?! reports?\b)|the crash (?:is|was))`;
const KEPT =
  "(?:is|are|lives?|sits?|stays?|finds?|found|kept|keep|keeps|tracked?|tracks|documented|documents?|filed|stored?|stores|logged|reported|posted|published|hosted|managed|collected|discussed|announced|written up|go|goes|come|comes|lands?|ends? up|moved|belongs?|listed|maintained?|maintains|manages?)";

/** Verbs and states that a date belongs to. */
const EVENT = r`(?:(?:pushed|postponed|delayed|moved) (?!(?:the |my |his |her )?(?:fix|commit|branch|code|change|merge|pr|tag|file|button|meeting)\b)\S.{1,60} (?:to|until) (?:the |Q[1-4]\b|next|end|mid|\d|[a-z]+day\b|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december)|upgrades?|(?:is|are) valid from|pull(?:s|ing)? the plug|runs? out|lapses?|starts?|begins?|ends?|expires?|moves?|moved|moving|slips?|slipped|ships?|launch(?:es)?|go(?:es)? live|(?:is|are|was|were|gets?) (?:now )?(?:due|on|out|away|off|back|scheduled|planned|postponed|delayed|rescheduled|closed|frozen|moved|dropped|cancell?ed|retired|removed|deprecated|switched off|turned off|shut down|cut|live|blocked|locked|replaced|approved)|deadline .{2,60} is|(?:will|to) be (?:\w+ )?(?:\w+ed|switched off|turned off|shut down|cut|frozen)|on (?:leave|vacation|holiday|sabbatical|parental leave)|(?:must|has to|have to) be \w+|(?:is|are|runs?|lasts?) from .{2,30} (?:to|until|till)|takes? over|replaces|becomes|joins?|leaves?|retires?|closes?|opens?|freezes|migrates?|sunsets?|no longer|nobody|(?:no one|no) (?:merges?|deploys?|releases?)|(?:off limits|unavailable|read-only) until|(?:renewal|demo|audit|kick-?off|go-?live|cut-?over|review|release|freeze)(?: \S+){0,4} (?:is|are|was|will)\b)`;

/**
 * The first matching row counts, so specific rows come first: where something is kept before when it moved there. All
 * are matched against one sentence without its lead ("no, ", "please "), of limited length, ignoring case.
 */
export const ROWS = readRows(
  "diu",
  r`
correction 0.9 order,demand ^(?:i(?:'ve| have)? (?:already )?told you(?: (?:before|already|twice|many times))?|i keep telling you|as i (?:said|told you)(?: before| already)?)(?: that)?[,:]? (?!so\b|about\b|to\b)(?<what>\S+ \S+.*)
correction 0.85 order,!at-hand ^i(?:'ve| have)? (?:already )?(?:told|asked) you (?<what>(?:not to|never to|to (?:always|never|only)) \S+.*)
wrong 0.75 reasoned|contrast ^(?:that's|thats|that is|this is|you're|you are|that was) (?:just |simply |still )?(?:wrong|not right|incorrect|not correct|not true|mistaken|outdated|not how we [^,.;:]{2,30})[,;:.] ?(?<what>\S+ \S+ \S+.*)
correction 0.85 order,corrected|reasoned|!saying ^never (?:ever )?${VERB}(?! (?:it|this|that|so|never)[.!]*$)
preference 0.9 order,corrected|reasoned|!saying ^always ${VERB} \S
preference 0.85 order,corrected|reasoned ^(?:make sure|be sure|ensure)(?: that)?(?: you| to| we)? (?:always|never) \S
correction 0.85 order ^stop (?!asking and|running|watching|building|working|using (?:it|this|that)\b)[a-z]+ing\b(?! (?:it|this|that|them)[.!]*$)
correction 0.8 order ^no more (?!of|today|for|than|bikeshedding|questions)[a-z]+[ ]
correction 0.75 corrected|reasoned ^no (?!idea|problem|need|worries|changes?|longer|one|plan|rush|big|luck|difference|way|time)[\w-]+ (?:[\w-]+ )?(?:in|on|for|under|without|before|outside) \S
correction 0.85 !described,corrected|reasoned|general|!single ^we (?:do not|don't|dont|never|always|no longer) (?!know|have|need|get|care|see|think|want|remember|seem|support|got|had|did|saw|understand|expect|fail|crash|end up|forget|win|lose|laugh|joke|eat|drink|celebrate|meet|sing|go out|hang out|argue|complain|say|talk|wonder|do (?:any|some|no)thing)[a-z]+(?<!ed)\b
correction 0.85 - ^we (?:use|write|spell|call|name|format|say|put|number) (?!(?:the same|a similar|this|that|it)\b)\S.{0,60}?(?:,? (?:not|never|instead of|rather than)|, no) \S
correction 0.8 corrected|house ^we (?:use|want|prefer|write|keep|like|return|call|spell|put) \S
correction 0.85 order,corrected|house ^(?:use|write|call it|say|put|name) \S.{0,80}?(?<!\b(?:are|is|was|were|do|does|did|can|will))(?:,| and| but)? (?:not|never|instead of|rather than) \S
correction 0.8 order,lasting ^(?:do not|don't|dont) (?:ever )?(?!forget|remember|worry|know|think|care|mind|see|have|need|get|you|we|i\b|understand|want|let me|bother|ask why|like)[a-z]+ \S+
correction 0.8 order ^(?:(?:keep your )?hands off|stay away from|stay out of|keep out of) (?!it\b|that\b|this\b)\S+|^leave (?!it\b|that\b|this\b)\S.{0,60} alone\b
correction 0.85 order ^next time,? (?:you (?:should|must|can) |please |just |only )*(?!(?:the|it|a|an|i|i'll|we|we'll|this|that|someone|he|she|they|there|you|around)\b)\S+ \S+
correction 0.8 order,before-any ^(?:always )?(?:ask|check with|tell|warn|consult) (?:me|us) (?:first )?before (?!you (?:start|go|begin)\b)(?:you (?:ever )?)?\S+
correction 0.8 - ^(?!(?:it|this|that)\b)(?:[\w.-]+ ){1,4}(?:is|are) (?:banned|forbidden|not allowed|a no-?go) (?:in|for|on) (?:this|our|the) (?:repo|repository|code ?base|project|team|company)\b
correction 0.85 - ^you (?:should|must|have to|need to|may) (?:always|never)[ ]
correction 0.85 - ^(?:the|our) (?:rule|convention|policy|standard|agreement)(?: here)? is\b(?! (?:in|at|on|under|wrong|broken|not|missing)\b)
correction 0.75 corrected|reasoned,corrected|!article,corrected|!broken ^(?!(?:it|this|that|there)\b)(?:\S+ ){1,6}must (?:never|always|not|only|stay|remain)\b
preference 0.8 order ^(?:use|write|give|show|ask|put|keep|make|answer|reply|prefer|include|explain|send|start|name|run|leave|skip|omit|drop|avoid|stay|stick|split|attach|link|mention)\b(?!.*\b(?:that way|like (?:that|this)|same way)\b).{3,200}\b(?:always|every (?:single )?time|everywhere|each time|by default|as a rule|before (?:each|every) \w+)(?:[.!]*$|(?<=, always) (?:with|in|as|by)\b)
preference 0.75 - ^(?:whenever|every time|each time|any time|when) you (?:write|add|create|change|touch|edit|update|generate|open|commit|name|refactor|review|explain|answer|show|(?:give|send|show|suggest|paste) me|propose|cite|quote)\b.{3,100}, (?!(?:it|the|i|we|you|there|this|that|they)\b)[a-z]+ \S
preference 0.75 - ^(?:before|after) (?:every|each|any) .{3,60}, (?!(?:it|the|i|we|there|this|that|they|but|so|and|which|where|when|then)\b)[a-z]+ \S
preference 0.75 order ^(?!i\b).{6,80} when(?:ever)? i (?:ask|write|send|paste|give you|show you)\b
// "no, API identifiers are American": a bare plural speaks of all of them, where "the test is …" speaks of one.
correction 0.7 corrected,reasoned|words>8,!here ^(?!(?:the|a|an|this|that|these|those|they|we|i|you|there|he|she|my|your|both|some|still|tests?|all)\b|it)(?:[\w-]+ ){1,4}(?:are|go|belong|live|come|stay|return|use|get|have|need)\b(?! (?:\w+ing|still|not|now|red|green|broken|fine|done|ok|missing|gone|wrong|empty|too)\b)
correction 0.7 corrected ^(?!(?:the|a|an|this|that|he|she|my|your)\b|it)(?:[\w-]+ ){1,4}(?:is|are|gets?) (?:always |never |only )?(?:stored|written|kept|spelled|sent|measured|handled|named|deployed|generated|done|counted|logged|validated)\b
correction 0.75 corrected,!broken ^(?:(?:every|each|any) (?!(?:time|one|of)\b)\S.{5,}|our [\w-]+(?: [\w-]+)?s (?:are|return|use|go|have|need|must|should|never|always)\b)
correction 0.75 corrected ^(?!(?:this|his|tests)\b)[\w-]+s .{3,80}, not \S
correction 0.75 !broken ^(?:our (?:[\w-]+ ){0,2})?${WORKS} (?:are|is|use|go|have|get|carry) .{3,80}, not \S
correction 0.75 corrected ^(?!(?:the|this|that|it|they)\b)(?:[\w-]+ ){1,5}(?:go|goes|belong|belongs) (?:in|into|under|to) \S+, not \S
correction 0.75 corrected,!broken ^the [\w-]+ (?:never|always|only) [a-z]+s\b
correction 0.75 corrected,!broken ^in (?:this|our) (?:repo|repository|project|team|codebase|company),? (?!(?:there|i)\b)\S+ \S+ \S
preference 0.8 - ^before (?:you )?(?:touch|chang|delet|edit|merg|deploy|releas|renam|remov|updat)\w* (?!(?:it|this|that)\b).{3,60}?,? (?:always |please )?(?:talk to|ask|check with|tell|ping|warn) (?!(?:me )?(?:if|why|what)\b)\S+(?!.*\b(?:if|whether)\b)
correction 0.75 order,corrected ^(?:keep|leave|put) (?!(?:it|this|that|them)\b)\S.{2,60} (?:in|under) [\w.-]+\/\S*, (?:the|it|they|we|our|nobody)\b
preference 0.75 order ^(?!i\b).{6,80} when(?:ever)? you (?:talk|speak|write) to me\b
preference 0.8 - ^when in doubt\b.{0,60}, (?:ask|use|check|prefer|leave|keep) \S
correction 0.8 corrected|general,!broken,!here ^we (?:must|may|should|can) (?:not|never) (?!(?:be|have|forget|know|find|see)\b)[a-z]+ \S
preference 0.75 order ^keep (?!(?:the|this|that|these|those|my)\b)(?:[\w-]+ ){0,2}[\w-]+s (?:under|below|short|small|narrow|out of|away from)\b.*, (?:i|we|they|the|it|our|otherwise)\b
preference 0.75 order ^(?:give|show|write|send|use|keep|put) (?!(?:me )?(?:the|this|that|it|a|an|my|these|those|port|branch|version|file|folder)\b)(?!.*\d).{3,80}?(?: please)?(?:,| -|;) (?:because |since |as )?i(?:'m| am| sit| work| read| live| can't| cannot| don't have| use)\b
// Who may do it and what is never done, said of all such things: "decoders are never removed".
correction 0.75 corrected|only-by,!broken ^(?:.{3,120}, so )?(?!(?:the|a|an|this|that|these|those|it|they|he|she|there|my|your)\b)(?:[\w/.-]+ ){1,5}(?:is|are|gets?) (?:only |never |always )(?:ever )?(?:changed|edited|touched|merged|deployed|approved|reviewed|released|signed|removed|deleted|renamed|committed|published|rebased|squashed|generated)\b
correction 0.75 corrected,!broken ^(?!(?:the|a|an|this|that|these|those|it|they|he|she|there|my|your|tests)\b)(?:[\w/-]+ ){0,3}[\w-]+s (?:always|never) (?:get|go|need|have|start|use|come|carry|contain)\b(?!.*\b(?:here|there)\b)
correction 0.75 corrected|reasoned,!broken ^(?:our |all )?(?:[\w-]+ )?${WORKS} (?:need|must|have to|should|go|start|end|use|get|carry|are (?:written|named|grouped|sorted|kept)|always|never)\b(?!.*\b(?:now|again|still|first|yet)\b)
preference 0.75 - ^(?!(?:it|this|that)\b).{3,80} (?:is|are) the (?:way to go|right way|way (?:i|we) (?:want|like|do) it) (?:for|in|with) (?:all|every|any|each|everything)\b
correction 0.8 order ^(?:.{0,60}\b)?(?:in general|as a (?:general )?(?:rule|policy)|as a matter of principle)[:,] (?<what>\S+ \S+ \S+.*)
correction 0.75 back ^i(?:'ve| have)? (?:already )?(?:said|told you|mentioned) (?:this|that|so)\b(?: \S+){0,6}$
correction 0.8 back ^(?:that|this|it|same|the same) (?:goes|applies|holds|rule applies) (?:for|to) (?:any|all|every|each|everything)\b
correction 0.75 corrected ^[\w-]+(?: [\w-]+)? only\b
correction 0.8 order,general ^(?:always )?ask (?:first )?before you (?:ever )?\S+ .{2,}
preference 0.85 reasoned|words>3 ^i (?:(?:really|strongly|generally|usually|always|much|definitely|personally|still) ){0,3}(?:prefer|hate|dislike|loathe|can't stand|cannot stand|despise)\b(?! (?:it|this|that|these|those|the (?:first|second|third|last|other|latter|former|old|new)|option|your|not to say)\b)
preference 0.75 - ^i(?:'d| would) (?:really |much )?prefer (?!(?:it|this|that|these|those|the|option|your|not|if (?:the|this|that|it))\b)
preference 0.75 - ^i(?:'d| would) rather you (?!(?:fix|do|did|stop|wait|look|check|try|show|start|begin)\b)\S+
person 0.8 - ^i (?:really |generally |usually |always )?(?:like|love|enjoy) (?:my |all )?(?:short|concise|brief|terse|detailed|small|plain|simple|direct|explicit|verbose|bullet|step-by-step|tabs|spaces|long|functional|typed)\b
preference 0.8 - ^i (?:only |always |generally |don't |do not |never )?(?:want|need|expect|like) (?!(?:it|this|that|the|you to (?:fix|add|run|look))\b).{0,60}\b${TEXTS}\b(?! (?:for|on|about) (?:this|that|the)\b)
preference 0.8 - ^i(?:'d like| would like| want| need| expect) you to (?:always|never) \S+ \S
preference 0.75 - ^i(?:'d| would) rather have (?!(?:it|this|that|these|those|the|an?|one)\b)\S+ .*, \S
preference 0.8 - ^i (?:always|never) want\b(?! to (?:see|hear) (?:another|that|this|it|any))
preference 0.75 - ^for (?!(?:this|that|now|the|my|these|those|me)\b)[a-z]+(?: [a-z]+)?s,? i (?:want|prefer|need|like) \S
preference 0.8 - ^i (?:really |do |don't |do not )?(?:like|hate|appreciate|dislike) it when you \S+ \S
preference 0.75 - ^i(?:'d like| would like| want| need| expect) you to (?:show|ask|tell|explain|warn|confirm|check with|propose|wait)\b.{3,100}\b(?:before|always|whenever|every time|each time)\b
preference 0.75 order ^(?:keep|make) (?:your |all |all your )?(?:answers|explanations|commits|commit messages|responses|replies|summaries|pull requests|prs|functions|comments) (?!(?:coming|going|(?:in|on|for) (?:this|that))\b)\S
preference 0.75 order ^(?:always )?(?:answer|reply|respond|write|talk|speak)(?: to me)? in ${LANGUAGE}\b
preference 0.75 back ^i (?:always|usually|generally) (?:work|do it|do this|do things|like it|want it) (?:that way|like that|this way)\b
person 0.85 - ^(?:call me (?!back|when|if|later|an?\b|crazy)|my (?:preferred |main |native |first )?(?:name|pronouns|role|job|title|background|time ?zone|editor|shell|language|mother tongue|team) (?:is|are)\b(?! (?:not|in|on|missing|stuck|blocked|wrong|broken|slow|dead|down|\w+ing)\b))
person 0.85 - ^${AM} (?:also |just |only )?an? (?!(?:bit|little|lot|huge|big|fan|few|couple|moment|idiot|while|fool|moron|minute|hundred|day|step|hair|tad|touch|genius|morning person|night owl)\b)\p{L}
person 0.85 - ^${AM} ${HOW}(?:new to|not an? (?!robot|fan|big|huge|bit)|no expert|not familiar with|unfamiliar with|fluent in|learning|colou?r[- ]?blind|dyslexic|left-handed|deaf|blind|visually impaired|based in|located in|responsible for|in charge of|on the [\w-]+ team|(?:the|your|our) (?:[\w-]+ ){0,3}${ROLE})\b(?! (?:fan|big fan)\b)
person 0.8 own-name ^(?:${AM}|my name is) (?!(?:sorry|fine|done|back|good|ok|afraid|sure|not|on|in|at|so|now|here|going|still|ready|happy|glad|confused|lost|stuck|off|out|tired|curious|just|also|using|looking|working)\b)[\p{L}'-]+(?:, [\p{L}-]+|[.!]?$| and i | from )
person 0.8 - ^i work (?:as|at|for|with|from|in|on) (?!(?:it|this|that)\b)\S
person 0.8 - ^i (?:mostly|mainly|normally|primarily) (?:do|write|work|code|use)\b|^i (?:do|write|work|code) (?:mostly|mainly|primarily)\b|^i come from (?!(?:the meeting|lunch)\b)\S|^i have an? [\w-]+(?: [\w-]+)? background\b
person 0.85 - ^i(?:'ve| have) been (?!(?:debugging|staring|waiting|trying|looking|fighting|sitting)\b)\w+ing\b.{0,60}\bfor .{1,20}\b(?:years|decades|months)\b|^i(?:'ve| have) .{0,30}\b(?:years|decades)(?:(?: of)? (?:experience|in|with|as)\b| of [\w+#.-]+)|^i(?:'ve| have) never (?:used|written|worked|touched|done) (?!(?:it|this|that)\b)|^i haven't (?:written|used|touched|coded|worked|done) .{2,60}\b(?:since|in years|for years|before)\b
person 0.8 - ^i(?:'ve| have) (?:been )?(?:maintain|writ|work|develop|us|own|run|led|lead|built|teach|taught)\w* .{0,60}\bsince (?:19|20)\d\d\b
person 0.8 - ^as (?:an?|the) (?!(?:result|consequence|rule|side|test|workaround|last|first|bonus|matter|whole|start|user|name|title|docs?|code|test|log)\b)[\w-]+(?: [\w-]+){0,3},? i\b
preference 0.75 - ^i(?:'d| would) rather (?:see|have|get|read|review|be) (?!(?:it|this|that)\b).{3,100} than \S
person 0.75 - ^i (?!(?:was|have|had|think|thought|get|got|see|saw)\b)[a-z]+ .{2,60}\b(?:most of the time|all day|every day)\b|^i (?:read|see|view|use|review|write) (?:your|all|everything|most|answers|diffs|prs) .{0,60}\bmostly\b|^i (?:usually|mostly|often) (?!(?:get|see|think|forget|agree|would)\b)[a-z]+ (?!(?:it|this|that)\b)\S
person 0.8 - (?:^|, |^from [^,]{3,40} )i(?:'ll| will)? (?:now )?(?:own|maintain|lead|take over) (?!(?:it|this|that|from|the (?:branch|pr|task|ticket|meeting|file|call))\b)\S
person 0.75 - \bmy first (?:time|project|week|month|steps?) (?:with|using|in|on)\b|^i (?:know|speak) (?!(?:that|what|why|how|it|this|you|the|where)\b)\S.{2,60}\b(?:well|but)\b|^i (?:use|rely on) a screen reader\b
person 0.75 - ^(?!(?:it|this|that|the|these)\b).{2,200}\b(?:unreadable|hard(?:er)?|difficult|impossible|easier|painful)(?: to \w+)? for me\b
person 0.8 - ^(?!(?:it|this|that|these|which)\b)[\w.#+-]+(?: [\w.#+-]+){0,3} (?:is|are) ${HOW}(?:new|foreign|unfamiliar) to me\b
person 0.8 - ^i (?:manage|lead|teach|study|supervise|coordinate|learned|learnt|studied|grew up with) (?!(?:it|this|that|to|how)\b|(?<=(?:learned|learnt|studied) )the\b)\S+.{3,}|^i (?:don't|do not|can't|cannot) code\b
preference 0.75 corrected ^i (?:want|expect) (?!(?:it|this|that|the|you|to)\b)[\w-]+ (?:[\w-]+ )?(?:code|names|tests|functions|files|types|docs)\b
// "I'm the statistician on the reader study": a trade by its ending, with what it is for.
person 0.8 - ^${AM} (?:the|one of the) (?:[\w-]+ ){0,2}(?!(?:other|number|user|computer|caller|owner)\b)[a-z]{3,}(?:ians?|ists?|ers?|ors?|eers?|nurses?|heads?|leads?) (?:of|on|for|in|at|behind|from) \S
person 0.8 - ^i (?:just |only |recently )?(?:joined|started|was hired)(?: here| the team| this (?:team|project))? as (?:an? |the )?(?:[\w-]+ ){0,3}${ROLE}\b|^i do (?:mostly |only |mainly |just )?(?:qa|ops|devops|support|testing|front-?end|back-?end|design|sales|marketing|data science|machine learning|ml|security|infra|infrastructure|localization|docs|hardware|firmware)\b(?=[,.;!]|$| (?:and|so|here|for|but|only)\b)
person 0.8 - ^since .{3,30} i(?:'m| am| run| lead| own| manage| head) .{0,30}\b(?:team|group|department|service|product)\b
person 0.8 - ^i do the [\w+#-]+ (?:part|side|work)\b|^[\w+#-]+ (?:isn't|is not|is) my (?:first|second|native|mother|weak|weaker) (?:language|tongue|side|point)\b|^i (?:can't|cannot|don't) (?:see|distinguish) colou?rs\b
person 0.75 - ^no need (?:for (?:[\w-]+ ){0,3}explanations?|to (?:explain|teach|go into) .{3,80}), i(?:'ve| have|'m| am)? [a-z]+ \S
// What the agent may leave out when it talks; "you don't need to fix that" is about the work.
preference 0.75 order ^you (?:(?:don't|do not) (?:have|need) to|needn't) (?:ask|explain|tell|show|confirm|apologi[sz]e|praise|thank|summari[sz]e|repeat|justify|warn)\b(?! (?:it|this|that|these|those|anything about (?:this|that))\b)
person 0.8 capital ^[\p{L}'-]+ here, [\p{L}-]+
person 0.8 - ^i have (?:rsi|adhd|dyslexia|tinnitus|poor eyesight|bad eyes|low vision|an? .{2,20} (?:disability|impairment))\b
preference 0.75 - ^i (?:don't|do not|never) want (?:to be \w+|you to) .{3,80}\b(?:each|every|any|anything|always|unless|again)\b
pointer 0.85 stated ^.{3,120}\bsource of truth\b
pointer 0.85 !errand,!should ^(?!i\b|we (?:got|saw|found)\b|see\b|${PASSING}).{2,80}\b${KEPT}\b(?: \S+){0,6}? (?:in|at|on|under|to|from|via|into|over at|through)\b(?: \S+){0,5}? ?${PLACE}
pointer 0.8 - ^(?!${PASSING})(?:the |our )?[\w /-]{3,50}: ?(?:(?:ask|look|go|see|post) )?(?:(?:in|at|to|on) )?${ADDRESS}[.!]?$
pointer 0.8 !errand ^(?!${PASSING}|(?:the|our) (?:[\w-]+ ){0,2}(?:endpoint|url|link|request|response|address|repro)\b)(?:the|our) .{3,80} (?:is|are)(?: now| still)?(?: at| on| behind| under)? (?!\S*(?:localhost|127\.0\.))${ADDRESS}
pointer 0.85 !errand ^(?:it's|it is|they're|they are|that's|those are|these are)(?: all| now)? (?:kept |tracked |documented |stored )?(?:in|on|at|under) ${PLACE}(?:,? (?:in |under |the )?${PART}\b|[^,.]{0,20}${BLANK})
pointer 0.8 !errand ^(?:in|on|at|under) (?:the (?:share|bucket|server|drive|volume) )${ADDRESS}
pointer 0.8 !errand ^(?:in|on|at|under) ${PLACE}(?:,? (?:in |under |the )?${PART}\b|[^,.]{0,20}${BLANK})
// A system whose name we do not know, with a part of it: "in Quarry, space EDI".
pointer 0.8 !errand,named-system ^(?!i\b|${PASSING}).{2,80}\b${KEPT} (?:in|on|at|under) [\w.-]+(?: [\w.-]+)?, (?:the )?${PART}\b
pointer 0.8 - ^(?:the|our) ${SYSTEM} ${PART}\b.{0,60} (?:is|are)(?: called| named)? ?${BLANK}
pointer 0.8 !errand ^for (?!(?:this|that|now)\b).{3,60}(?:,| see| check| go to| use| look| there)\b.{0,60}${PLACE}
pointer 0.8 order ^(?:ask|look|check|report|file|post|search|see)\b.{0,80}${PLACE}.{0,40}\b(?:when|whenever|if|for any|for all|for questions)\b
pointer 0.8 !errand ^(?:if|when(?:ever)?) you need .{3,60}[:,] .{0,40}${PLACE}
pointer 0.85 !errand ^(?:there(?:'s| is| are)|we have|you have) (?!${PASSING}).{3,80} (?:in|at|on|under) ${PLACE}
decision 0.8 back ^(?:the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal) (?:has |have )?(?:just |already |all )?(?:decided|agreed|voted|signed off|approved)(?: (?:it|that|this|so))?[.!]*$
decision 0.85 dated|reasoned|settled|words>7 ^(?:then |so )?(?:we|[\w-]+ and i|i and [\w-]+|the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal|product)(?:'ve| have|'re| are)? (?:(?:just|finally|all|now|jointly|also) ){0,2}(?:decided|agreed|settled on|voted|committed to|opted)\b(?! (?:(?:on |to )?(?:nothing|disagree)|(?:this|that|it)(?: one)?(?:[.,;!]|$| (?:already|yet|last|before|this|today|on|in|with|by|is|was)\b)|already|yet|with (?:you|that|this|me)[.!]?$))
decision 0.8 - ^(?:the (?:[\w-]+ )?(?:team|board|client|customer|group|committee|council)|management|legal|product) (?:has |have )?(?:just |finally )?(?:chose|chosen|picked|selected|approved|rejected|vetoed|signed off)\b
decision 0.75 - ^(?:the (?:[\w-]+ )?(?:team|board|client|customer|vendor|auditors?|works council)|management|legal|compliance|security) (?:now )?(?:wants?(?! to see)|requires?|insists? on|demands?|forbids?) .{3,80}\b(?:every|any|all|each|no|never|always)\b
decision 0.75 capital,!pronoun ^[\p{L}-]{2,20} (?:decides (?:about|on)(?! (?:that|this|it)\b)|approves (?!this|that|it)|signs off|has the (?:last|final) (?:word|say)|(?:has to|must) (?:sign|approve|be asked)(?=.*\b(?:every|all|any|each|anything|before)\b))\b
decision 0.8 dated|reasoned|final ^we (?:have |'ve )?(?:just |finally )?(?:chose|chosen|picked|selected) \S
decision 0.85 !orders ^(?:decision|decided|agreed)\b[^:]{0,60}: ?(?!(?:option|variant|version) \w+[.!]*$)\S+ \S+
decision 0.8 - ^(?:it(?:'s| is| was)|that(?:'s| is| was)) (?:now )?(?:decided|agreed|official|settled)(?: that|:) (?<what>\S+ \S+.*)
decision 0.8 back ^(?:that(?:'s| is| was)|it(?:'s| is)) (?:now )?(?:decided|agreed|official|settled|final|a (?:final )?decision)[.!]*$
decision 0.8 back ^(?:decided|agreed|settled|final|final decision)(?:[.!]*$|,? (?:because|since|as) \S|, (?:we|it|they|the|our) \S+ \S)
decision 0.8 - ^(?:wir haben (?:uns )?(?:heute |gestern |gerade )?(?:entschieden|beschlossen|vereinbart|geeinigt)|es ist (?:entschieden|beschlossen)|(?:on a|nous avons) (?:décidé|convenu)|hemos (?:decidido|acordado)|se ha decidido)(?![\p{L}])(?!.*(?<!\p{L})(?:nicht|ob|noch|später)(?!\p{L})).{8,}
decision 0.75 back ^(?:we|\w+ and i|\w+ and \w+) (?:decided|agreed on|settled) (?:it|that|this)\b
decision 0.8 - ^the reason (?:why )?we (?:still |always |never |don't |do not )?(?:pin|keep|avoid|moved|chose|left|dropped|ship|support)\b.{2,80}(?:: | is )\S+ \S+ \S
decision 0.75 named-reason,!program ^(?!(?:it|this|that)\b).{3,80} (?:has to|have to|must|needs? to) stay\b
decision 0.8 final ^[\w .+#-]{2,40} (?:it is|then)\b
decision 0.8 dated|reasoned|eventually ^we went with \S
decision 0.8 - ^(?!i\b).{8,200}?,? (?:as )?(?:decided|agreed|approved|signed off) (?:in|at|by|with|on|yesterday|last|during|this)\b
decision 0.8 dated|final|instead ^(?:then |so )?we(?:'re| are|'ll| will)? (?:now |also )?(?:go|going|cut over|cutting over|stick|sticking|stay|staying|move|moving|switch|switching|migrate|migrating) (?:with|to|on|from|away from|over to)\b
decision 0.8 dated|final ^(?:then |so )?we(?:'re| are|'ll| will)? (?:now |also )?(?:drop|dropping|remov(?:e|ing)|deprecat(?:e|ing)|sunset(?:ting)?|retir(?:e|ing)|replac(?:e|ing)|adopt(?:ing)?|stop(?:ping)?|launch(?:ing)?|releas(?:e|ing)|ship(?:ping)?|freez(?:e|ing)|upgrad(?:e|ing)|hir(?:e|ing)) \S
decision 0.8 - ^.{10,200}\b(?:so|since then|therefore|that's why) we (?:now|no longer|always|never|stopped|have to|must)\b
decision 0.75 dated \b(?:was|were) [a-z]+ for .{1,15}\b(?:hours?|days?)\b|\b(?:was|were|went|been) (?:down|offline|unavailable|lost|corrupted|leaked|breached)\b|\b(?:outage|data loss|ran out of|(?:lost|corrupted|leaked|wiped|deleted) (?:\S+ ){0,5}(?:data|records|hours|backups?|rows|orders|files)|broke (?:production|prod))\b
// What reached people outside, and why.
decision 0.75 dated ^(?=.*\b(?:yesterday|last|ago|on [a-z]+day)\b)(?=.*\b(?:customers?|clients?|patients?|hospitals?|orders|invoices?|payments|production|prod)\b).*\bbecause (?!of\b)\S+ \S+ \S
decision 0.8 dated ^[\p{L}'’-]{2,30} last day is\b
decision 0.75 dated,!program ^no (?:deploy(?:s|ments)?|merges?|releases?|pushes) \S.*, (?:the|we|they|our|it)\b
decision 0.8 dated,words>4 ^(?:the |our )?(?:[\w-]+ )?deadline\b.{0,60} (?:is|was|moved|moves)\b
decision 0.75 dated ^(?:i'm|i am|i'll be|i will be) (?:out of (?:the )?office|out (?:from|until|on|next|all)|away|off|on (?:leave|vacation|holiday|parental leave|sabbatical))\b
decision 0.75 dated,!program ^since \S+.{3,30} (?:all|every|each|nobody|no) \S+ \S
decision 0.75 dated ^.{10,200}\bsince then,? (?!(?:it|i)\b)\S+ \S+ \S
decision 0.75 dated,!program ^(?:as of|effective|starting|beginning|from) \S+.{10,}
// What should be is asked of the program.
decision 0.8 dated,!program,!should ^(?!(?:i|i'll|i'm|let's|let)\b)\S.{0,300}? ${EVENT}\b
decision 0.7 announced,dated,!program ^(?!(?:i|i'll|i'm|let's|let)\b)\S+ \S+ \S+ \S+
`,
);
