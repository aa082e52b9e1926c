/** What is never kept, whatever the classifier says: secrets, personal data, what instruction files say already; and what asks or takes back. */

import type { Sentence } from "../text/speech.ts";
import { holdsSecret } from "../text/spoken-secrets.ts";

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
