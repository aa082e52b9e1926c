/** Explicit requests to remember or to forget, in the commonest languages; and what is never kept. */

import { findSecrets } from "../text/secrets.ts";
import { SECRET, type Sentence } from "../text/speech.ts";

export interface Request {
  act: "remember" | "forget";
  /** What follows is how things are to be done ("from now on …"). */
  isRule: boolean;
  /** Where the request begins, and where what is to be kept begins and ends; it is empty for "remember that." */
  at: number;
  start: number;
  end: number;
}

const r = String.raw;

/** What may come before a request: small talk, and the end of another clause. */
const LEAD = r`(?:(?:please|pls|plz|ok(?:ay)?|oh|ah|hey|hi|hello|yes|yep|yeah|no|nope|wait|so|and|also|but|btw|by the way|thanks|thx|great|good|nice|cool|right|just|one more thing|one thing|important|sorry|note|reminder|fyi|heads up|quick note|actually|then|now|always|bitte|und|ach ja|übrigens|s'il te plaît|por favor|y|et)(?:[,:;.!]| -|)\s+){0,5}`;
const START = `^${LEAD}`;
/** Also in the middle of a sentence, behind a comma: "it works, and please remember that …". */
const CLAUSE = r`(?:^|[,;–—]\s|\s-\s|\s(?:and|but|also|und|y|et)\s)${LEAD}`;
const WHAT = "(?<what>.*)$";
/** "remember for next time that …" */
const LATER = "(?: for (?:next time|later|the future|later sessions|future sessions|future reference))?";
const THAT = r`(?:\s*[:,]|\s+(?:(?:that|the following|also|how|too)\b[:,]?|this\s*[:,-])|)\s*`;

/** In order: "don't forget" comes before "forget". */
const REQUESTS = r`
remember ${CLAUSE}(?:do not|don't|dont|never) (?:ever )?forget(?! about it\b)(?:\s*[:,]|\s+(?:that|about|this)\b[:,]?|)\s*${WHAT}
remember ${START}(?:i (?:want|need|would like|'d like) you to|you (?:should|must|need to|have to)) (?:always )?(?:remember|keep in mind|know|note)${THAT}${WHAT}
remember ${START}(?:can|could|would|will) you (?:please )?(?:remember|keep in mind|note|save|store|memori[sz]e|make a (?:mental )?note)${LATER} (?:that|this:)\s*${WHAT}
remember ${START}(?:(?:one|another|a|some) (?:more )?things?|something|what|things) (?:you should |you must |to )(?:remember|keep in mind|note|know)${LATER}\s*[:,-]\s*${WHAT}
remember ${CLAUSE}(?:always )?(?:remember|memori[sz]e|keep in (?:mind|memory)|bear in mind)(?! (?:when|me|how (?:we|i|you)|last time|the (?:time|days))\b|\?)${LATER}${THAT}${WHAT}
remember ${START}(?:make|take|keep|leave) a (?:mental )?note${LATER}(?! of (?:the|how|what)\b| (?:in|on|at|to|under) )(?:\s*:|\s+(?:that|of|to self|of this)\b[:,]?|)\s*${WHAT}
remember ${START}(?:notes?|memo) (?:to (?:self|you|yourself)|for (?:next time|later|the future|future sessions|yourself))\s*[:,-]\s*${WHAT}
remember ${START}note (?:that |this: ?|: ?)?(?<what>.*?),? (?:for|the) (?:next time|the future|later|future reference|future sessions)[.!]*$
remember ${START}(?:save|store|add|put|write|record|commit) (?:this|that|it|the following)?\s*(?:down|to memory|in(?:to)? (?:your )?memory|to your memory|as a memory|in your notes|to your notes)(?![.\w/-])\s*[:,-]?\s*(?:that\s+)?${WHAT}
remember ${START}for the record\s*:(?!\s*i (?:never|didn't|did|told|said|was)\b)\s*${WHAT}
remember ${START}(?:save|store|memori[sz]e|record) (?:this|the following)\s*[:,-]\s*${WHAT}
rule ${START}(?:for (?:future reference|later reference|next time|the future|future sessions)|just so you know for (?:later|next time))\s*[:,-]?\s*${WHAT}
rule ${START}(?:from now on(?:wards?)?|from here on(?: out)?|going forwards?|moving forwards?|henceforth|hereafter|in (?:the )?future(?=,| please| always| never| don't| do not| use| ask| write| just))\s*[:,-]?\s*${WHAT}
rule ^${LEAD}(?<what>.*\w),? (?:from now on|going forward|henceforth|in all future sessions)[.!]*$
remember ${CLAUSE}(?:merke? dir|denke? (?:bitte |in zukunft |künftig )?dara?n|behalte? (?:bitte )?im (?:hinter)?kopf|notiere? dir)(?: bitte)?(?: für (?:die Zukunft|später|das nächste Mal))?\s*[:,]?\s*(?:dass\s+)?${WHAT}
remember ${START}(?:(?:bitte )?merken|(?:bitte )?nicht vergessen|à (?:retenir|noter))\s*:\s*${WHAT}
remember ${START}vergiss (?:bitte )?nicht\s*[:,]?\s*(?:dass\s+)?${WHAT}
rule ${START}(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in zukunft|künftig|zukünftig|fortan)\b\s*[:,]?\s*${WHAT}
remember ${CLAUSE}(?:(?:souviens|souvenez|rappelle|rappelez)-(?:toi|vous)(?: bien)?|retiens|retenez|mémorise[rz]?|n'oublie[zs]? pas|garde[zs]? (?:en tête|à l'esprit)|notez? bien)\s*[:,]?\s*(?:que\s+|qu'|de\s+)?${WHAT}
rule ${START}(?:dorénavant|désormais|à partir de maintenant|à l'avenir)\s*[:,]?\s*${WHAT}
remember ${CLAUSE}(?:recuerda|recuerde|acuérdate de|no (?:te )?olvides|ten(?:ga)? en cuenta|toma nota(?: de)?|an[oó]ta(?:te)?\b|ap[uú]nta(?:te)?\b(?! al?\b)|memoriza|guarda en (?:tu )?memoria)\s*[:,]?\s*(?:esto\s*[:,]\s*)?(?:que\s+)?${WHAT}
rule ${START}(?:a partir de ahora|de ahora en adelante|en adelante)\s*[:,]?\s*${WHAT}
remember ${START}(?:lembre-se(?: de)?|lembra-te(?: de)?|não (?:se )?esqueça|ricordati|ricorda|non dimenticare|onthoud|vergeet niet)\s*[:,]?\s*(?:que\s+|che\s+|dat\s+|di\s+)?${WHAT}
remember ^(?:好的?[，,。]?)?(?:另外[，,]?|还有[，,]?)?(?:请|請|麻烦|麻煩)?(?:你)?(?:帮我|幫我)?(?:一定要)?(?:记住|記住|牢记|记下|記下|记一下|記一下|记得|記得|别忘了|別忘了|别忘记|不要忘记|不要忘了)\s*[：:，,]?\s*${WHAT}
rule ^(?:请|請)?(?:从现在起|从现在开始|從現在開始|从今以后|今后|以后)(?!再)\s*[：:，,]?\s*${WHAT}
remember ^(?:これは|次のことを|以下を)?(?:覚えておいて|覚えて|記憶して(?:おいて)?|メモして(?:おいて)?|忘れないで)(?:ください|下さい|ね)?\s*[：:、,。]\s*${WHAT}
rule ^(?:今後|これから|以後)(?!も)(?:は)?\s*[：:、,]?\s*${WHAT}
remember ^(?<what>.*?)(?:という(?:こと)?|こと|の)?(?:を|は|と)?(?:覚えておいて|忘れないで|記憶して(?:おいて)?|メモして(?:おいて)?)(?:ください|下さい|ね)?[。.!！]*$
remember ^(?:꼭 )?(?:기억해(?: ?줘| ?둬| ?주세요)?|잊지 마(?:세요)?)\s*[:,]\s*${WHAT}
remember ^(?<what>.{6,}?)(?:다는 (?:것|거)|라는 (?:것|거)|는 (?:것|거))?(?:을|를|는)? ?(?:꼭 )?기억해(?: ?줘| ?둬| ?주세요)[.!]*$
rule ^(?:앞으로|이제부터)(?:는)?\s*[:,]?\s*${WHAT}
forget ${START}(?:please )?(?:ignore|scratch|scrap|disregard|strike|cancel) (?<what>that|this|it|what i (?:just )?said)(?:[,.!;:]|$| (?:please|sorry|i was|it was)\b).*$
forget ${START}(?:i take (?<what>that|it) back)\b.*$
forget ${START}never ?mind (?<what>what i (?:just )?said)\b.*$
forget ${START}(?:you (?:can|may|should) )?forget(?: about)?\b(?! (?:it|me)\b(?! about)| to\b)\s*[:,]?\s*(?:that\s+(?=\S+\s+\S+\s+\S))?${WHAT}
forget ${START}(?:delete|remove|erase|drop) (?:the |that |your )?(?:memory|note|memories|notes)(?: (?:about|of|on|that|for))?\s*[:,]?\s*${WHAT}
forget ${START}(?:do not|don't|dont) remember (?<what>(?!this\b|that\b|it\b|when\b|where\b).+?) any ?(?:more|longer)\b.*$
forget ${START}(?:vergiss|lösche? (?:bitte )?(?:die )?(?:notiz|erinnerung)) (?!nicht\b)(?:bitte )?(?:,? dass )?${WHAT}
forget ${START}(?:oublie[zs]?|supprime la note)\s+(?!pas\b)${WHAT}
forget ${START}(?:olvida|olvídate de|olvide|borra la nota)\s+${WHAT}
forget ^(?:请|請|麻烦)?(?:忘记|忘記|忘掉|忘了|删除关于)\s*[：:，,]?\s*${WHAT}
forget ^(?<what>.+?)(?:のこと)?(?:は|を)?忘れて(?:ください|下さい|ね)?[。.!！]*$
`
  .trim()
  .split("\n")
  .map((line) => {
    const at = line.indexOf(" ");
    return { word: line.slice(0, at), pattern: new RegExp(line.slice(at + 1), "di") };
  });

/** The request in one sentence, if it is one for longer than the task at hand. */
export function findRequest(plain: string): Request | null {
  for (const { word, pattern } of REQUESTS) {
    const match = pattern.exec(plain);
    const [start, end] = match?.indices?.groups?.what ?? [];
    if (!match || start === undefined || end === undefined) continue;
    const act = word === "forget" ? word : "remember";
    const request: Request = { act, isRule: word === "rule", at: match.index, start, end };
    return isMeant(plain, request) ? request : null;
  }
  return null;
}

function isMeant(plain: string, { act, isRule, at, start, end }: Request): boolean {
  const ahead = plain.slice(0, at);
  // What comes before the words of the request may be quoted.
  if (REPORTED.test(ahead.slice(-200)) || /\bif (?:i|you|we)\b/i.test(ahead)) return false;
  if (hasPart(plain, "question") && !/^(?:please )?(?:can|could|would|will) you\b.*\bthat\b/i.test(plain)) return false;
  const [words, what] = [plain.slice(at, start), plain.slice(start, end).trim()];
  if (act === "forget") return !hasPart(plain, "task");
  if (isReminder(words, what)) return false;
  // "Remember" alone is plain enough; the others are said of the work at hand as well.
  if (!isRule && !WEAK.test(words)) return true;
  return !(
    hasPart(plain, "task") ||
    hasPart(what, "program") ||
    /^(?:it's|it is|this)\b/i.test(what) ||
    what.length < 8
  );
}

const WEAK = /\b(?:forget|keep in mind|bear in mind)\b|vergiss|olvides|oublie|别忘|忘れないで|잊지/i;

/** Words that introduce what another person said. */
const REPORTED =
  /\b(?:says?|said|saying|reads?|prints?|printed|outputs?|shows?|states?|warns?|complains?|writes?|wrote|logs?|logged|asks?|error|warning|message|comment|titled|called|named|quote|sagt|schrieb|dit|écrit|dice|escribió)\b[^.]*$/i;

/** "Don't forget to push", "do you remember that trick we used", "bear in mind it's late": for the task, or for the talk. */
function isReminder(request: string, what: string): boolean {
  const words = what.split(/\s+/);
  const isGeneral =
    /\b(?:always|never|every|each|any|all|when(?:ever)?|before|after|must|because|otherwise|ever)\b/i.test(what);
  if (/\bforget\b|vergiss|olvides|oublie|别忘|不要忘/i.test(request)) {
    if (/^(?:to|de)\b/i.test(what) && (!isGeneral || hasPart(what, "task") || /\b(?:this|that|it)\b/i.test(what)))
      return true;
    if (words.length < 4 && what.length < 14 && !isGeneral) return true;
  }
  // "remember to close the file": with a reason or of all such cases it is more than that.
  if (/^to\b/i.test(what) && !isGeneral && !/, \S+ \S+/.test(what) && CODE_WORK.test(what)) return true;
  // What was shown or said before, and what is too short to mean anything later.
  if (/^(?:what (?:i|we|you)\b|(?:the|that) [\w-]+(?:,| from (?:before|earlier)\b| (?:i|we|you)\b|$))/i.test(what))
    return true;
  if (words.length < 3 && /^[a-z' -]+[.!]*$/.test(what) && !/^(?:that|this|it)[.!]*$/i.test(what)) return true;
  return words.length < 4 && /^(?:it's|they|they're|he|she|there)\b/i.test(what);
}

const CODE_WORK =
  /\b(?:the|this|that|your|my|an?) (?:[\w-]+ )?(?:files?|functions?|methods?|class|tests?|imports?|semicolons?|branch|commits?|handles?|connection|variables?|loop|line|changes?|changelog|docs|readme|types?|version)\b|^to (?:push|commit|save|merge|rebase)\b/i;

/** "Remember that": it is what was said before. */
export const DEMONSTRATIVE =
  /^(?:that|this|it|das|dies|ça|cela|eso|esto|这一点|这点|これ|이거|이걸)?(?: ?(?:please|bitte|down|for (?:next time|later|the future)|s'il te plaît|por favor))?[.!。！:：]*$/i;

/** The subject of a `forget`; "that" for whatever was said last. */
export function subjectOfForget(what: string, text: string): string | null {
  const subject = what
    .split(/[,.;!，。；！]/)[0]!
    .replace(
      /^(?:what (?:i|we) (?:said|told you) about|everything about|the (?:note|memory) (?:about|on|of)|about|lo de[l]?) /i,
      "",
    )
    .trim();
  // "forget the tests, just make it work" is about the work.
  if (!/\p{L}/u.test(subject) || /, (?:just|let's|please|and|so|make|do|fix|run|use)\b/i.test(text)) return null;
  return /^(?:that|this|it|what i (?:just )?said|the last (?:one|thing)|das|ça|eso)$/i.test(subject)
    ? RETRACTED
    : subject;
}

export const RETRACTED = "that";

// --- What is never kept, whatever the classifier says: secrets, personal data, what instruction files say already; and what asks or takes back.

/** "Don't save this": nothing of the whole message is kept. */
export function forbidsKeeping(message: string): boolean {
  const plain = message.replace(/[’‘]/g, "'");
  return FORBIDDEN.some((pattern) => pattern.test(plain));
}

const FORBIDDEN = [
  /(?:^|[.,;:!?\n] ?|\b(?:please|but|and|so|ok|also) )(?:do not|don't|dont|never) (?:save|remember|store|record|memori[sz]e|note|keep|write down|log|repeat) (?:any of )?(?:this|that|it|what i)\b(?= ?(?:$|[.,;:!\n]|but\b|please\b|anywhere\b|down\b|to (?:your )?memory\b|in (?:your )?memory\b|said\b|say\b|just\b|tell\b))/im,
  /\b(?:no need|you (?:don't|do not) (?:have|need)|needn't) (?:to )?(?:save|remember|store|note|record|keep|write|memori[sz]e) (?:this|that|it|any of)\b|\b(?:do not|don't|dont) (?:save|remember|keep) (?:any of )?the [^.,;:!\n]{0,30}\bi (?:said|told)\b/i,
  /\b(?:do not|don't|dont|never) (?:write|put|note|quote|mention|leave) (?:any of )?(?:this|that|it) (?:down|anywhere)\b/i,
  /\boff the record\b|\bbetween (?:you and me|us)\b|\bkeep (?:this|that) (?:to yourself|between)\b|\bunter uns\b|\bentre nous\b|\bentre nosotros\b/i,
  /\b(?:merk|speicher|notier)e? (?:dir )?(?:das|dies) (?:bitte )?nicht\b|\bnicht (?:merken|speichern|notieren)\b|\bne (?:retiens|note|mémorise|sauvegarde|garde) pas\b|\bno (?:guardes|recuerdes|anotes|memorices) (?:esto|eso|nada)\b/i,
  /(?:不要|别|別|不用)(?:记住|记下|保存|记录|存|記)|覚えなくて|保存しないで|記録しないで|기억하지 ?마|저장하지 ?마/,
];

/** Applies to everything, including explicit requests. */
export function saysNothing({ text, plain }: Sentence): boolean {
  return holdsSecret(text) || hasPart(plain, "once", "written", "personal");
}

export function hasPart(plain: string, ...parts: readonly (keyof typeof PARTS)[]): boolean {
  return parts.some((part) => PARTS[part].test(plain));
}

const PARTS = {
  /** Explicitly meant for one occasion. */
  once: /\b(?:just|only) (?:for )?this (?:once|time|one|answer|session|task)\b|\bfor the next (?:question|answer|step|task|hour)\b|\buntil (?:lunch|noon|dinner|tonight|the demo|the call)\b|\b(?:just|only) (?:for )?(?:once|now|today)\b|\bthis (?:once|time only)\b|\b(?:for|in) this (?:answer|reply|session|conversation|chat)\b|\bi'm (?:in a hurry|busy|tired|late|hungry|in a meeting|about to|on (?:the (?:train|phone|road|bus)|mobile))\b|\b(?:nur|bloß) (?:dieses (?:eine )?mal|heute|jetzt)\b|\bdiesmal\b|\b(?:solo|sólo) (?:por )?(?:esta vez|hoy|ahora)\b|\besta vez\b|\b(?:juste|seulement) (?:cette fois|aujourd'hui)\b|\bcette fois\b|(?:就|只)这一?次|这次|今回(?:だけ|は)|이번(?:만|엔|에는)/i,
  /** An appeal to what the instruction files say already. */
  written:
    /\b(?:as|like|per|see|according to|following)\b[^.]{0,30}(?:\b(?:CLAUDE|AGENTS|GEMINI|CONTRIBUTING|README)\.md\b|\.(?:editorconfig|clang-format|eslintrc|prettierrc)\b)|\b(?:CLAUDE|AGENTS|GEMINI)\.md (?:already )?says\b/i,
  /** It asks. Requests that begin with "can you" ask too; those to remember are looked at before. */
  question:
    /[?？]["')\s]*$|^¿|(?:吗|嗎|呢|か)[。\s]*$|, (?:is|are|does|did|can|could|would|will) (?:it|they|you|we|that)\b[^,]*$|^(?:(?:so|and|but|ok|hm+|well|also)[,:]? )?(?:(?:why|what|how|where|who|whose|which)(?!ever|as)\b(?![^?]{0,60}: )|do (?:i|we|you|they)\b|(?:should|shall|could|would|can|will|does|did|is|are|was|were|has|have) (?:i|we|you|it|he|she|they|this|that|there|the|a|an|someone|anyone)\b(?! to\b)|was meinst|sollten wir|kannst du|est-ce que)/i,
  /** For the task at hand only. */
  task: /\b(?:for now|for the moment|for the time being|at the moment|right now|temporar(?:y|ily)|until i\b|while i\b|for a (?:moment|bit|while|sec|second)|this time|on my branch|in a (?:minute|moment|second))\b|\b(?:in|for|on|to|of|from|with) (?:this|these|my|the current) (?:new )?(?:one|prs?|pull request|mr|branch|file|function|method|class|component|test|case|commit|diff|change|patch|ticket|task|issue|line|block|loop|answer|module|page|screen|run|build|job|error|bug|example|snippet|script|query|step|folder|directory|table|list|view|dialog|form|call|request|handler|endpoint|refactoring|feature|story|review|demo|exercise|round|rebase)s?\b|\blines? \d|\b(?:vorerst|fürs erste|im moment|gerade eben|por ahora|por el momento|de momento|pour l'instant|pour le moment)\b|暂时|先这样|とりあえず|일단/i,
  /** Another person's data. */
  personal:
    /\b(?:phone|tel|mobile|telefon|handy|teléfono|móvil|téléphone)\b\.?:? ?[+\d(].{5,}|(?:手机|电话|電話|전화)号?码?[:：]? ?[+\d].{5,}|\b(?:born|date of birth|geboren|geb\.|née? (?:le|en)|nacid[oa])\b.{0,20}\d{4}|出生|生年月日|생년월일/i,
  /** What the program is to do or to look like: the work itself, which the code will show. */
  program:
    /^(?:the|this|that|an?|each|every|all|any|our|new|both|these|those) (?:[\w-]+ ){0,2}(?:buttons?|banners?|labels?|dialogs?|modals?|forms?|columns?|rows?|tables?|lists?|fields?|inputs?|variables?|functions?|methods?|class(?:es)?|arguments?|parameters?|loops?|pages?|headers?|footers?|sidebars?|menus?|tabs?|icons?|spinners?|tooltips?|dropdowns?|checkbox(?:es)?|strings?|arrays?|objects?|props?|hooks?|regex(?:es)?|selectors?) (?:\S+ ){0,3}?(?:is|are|must|has to|have to|should|needs?|may|might|can|shows?|returns?)\b/i,
  /** "All buttons blue … no, forget it": neither this sentence nor what it takes back is kept. */
  takenBack:
    /\b(?:no,? wait|wait,? no|actually,? no|never ?mind|on second thoughts?|forget (?:it\b(?! each| every)|(?:what )?i said)|scratch that|scrap that)\b|\bvergiss (?:es|das)\b|\bach (?:nee|nein|egal)\b|\bquatsch\b|\bwar nur (?:ein )?(?:spaß|scherz|witz)\b|(?<!\p{L})olv[ií]dalo(?!\p{L})|\bno,? espera\b|\bespera,? no\b|\blaisse tomber\b|\bnon,? attends\b|算了|当我没说|やっぱりいい|なんでもない|아니다 됐/iu,
} as const;

/** Said about what was just said. */
export function callsItAJoke(message: string): boolean {
  return JOKED.test(message.slice(0, MAX_REMARK));
}

/** Further on in a message such words are about something else. */
const MAX_REMARK = 80;
const JOKED =
  /\b(?:iron(?:y|ic|ical|ie|isch|ique)|sarcas\w+|sarkas\w+|joke|joking|kidding|witz|scherz|bromas?|chiste|blague)\b|iron[ií]a|玩笑|反话|冗談|농담/iu;

// --- Credentials in what a person says, with or without a form that gives them away: "log in with …", "the door code is …".

/** Credentials as blanks: a sentence with one says nothing that may be kept. */
export function maskSecrets(message: string): string {
  let masked = message;
  for (const { start, end } of findSecrets(message))
    masked = masked.slice(0, start) + SECRET.repeat(end - start) + masked.slice(end);
  return masked.replace(LIKE_A_PASSWORD, (word) => SECRET.repeat(word.length));
}

/** Letters, digits and a sign between them that no ordinary word has, whatever comes before it: "log in with Nordlys!2026". */
const LIKE_A_PASSWORD =
  /(?<![^\s"'`(=:])(?=[^\s/]{0,40}\p{L})(?=[^\s/]{0,40}\d)(?=[^\s/!#$%^&*?~]{1,40}[!#$%^&*?~][\p{L}\p{N}])[^\s/"'`()<>]{8,60}/gu;

/** Whether it says a credential, masked or in everyday words. */
function holdsSecret(text: string): boolean {
  return text.includes(SECRET) || CREDENTIAL.some((pattern) => pattern.test(text));
}

const SECRET_NAME =
  "(?:pass ?words?|passwd|pwd|passphrase|passcode|api ?keys?|(?:access |auth |api |bearer )?tokens?|secrets?|credentials?|pin|Passwort|Kennwort|mot de passe|contraseña|clave)";

/** A credential in everyday words: its name, then a value that is no ordinary word. */
const CREDENTIAL = [
  new RegExp(
    String.raw`\b${SECRET_NAME}\b[^.,;\n]{0,40}?(?:\bis|\bare|\bist|\best|\bes|[:=])\s*["'\x60]?(?=\S{4,})(?=\S*[\d!@#$%^&*_])\S+`,
    "i",
  ),
  // "user svc-import, password Troll#44" and "pass Troll_44": a value right after the name.
  new RegExp(
    String.raw`(?:(?<=^|[,;:/(] ?)(?:pass|pw)|\b${SECRET_NAME})[ :=]+["'\x60“„]?(?=\S{6,})(?=\S*\p{L})(?=\S*[\d!@#$%^&*_])\S+`,
    "iu",
  ),
  /\b(?:pass ?word|passphrase|passcode|Passwort|Kennwort|contraseña)\b[^.,;\n]{0,20}["'`“„«][^"'`”“»]{4,}/i,
  /\b(?:pin|cvc|cvv|tan)\b[^.,;\n]{0,30}\b\d{3,8}\b/i,
  /\b(?:door|entry|access|alarm|gate|safe|lock|wi-?fi|vpn|login)[ -](?:code|key|pass\w*|pin|combination)\b.{0,60}?\d{3,}/i,
  /(?:密码|密碼|口令|パスワード|비밀번호)(?:是|为|は|는|은|가|이|[:：=])?\s*[\w!@#$%^&*-]{4,}/,
];
