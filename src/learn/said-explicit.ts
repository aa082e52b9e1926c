/** Explicit requests to remember or forget, in the most common languages. */

interface Request {
  act: "remember" | "forget";
  /** What is to be kept or forgotten, as offsets into the sentence; empty when it is what was said before ("remember that."). */
  start: number;
  end: number;
  /** Where the words of the request begin: what comes before them may be quoted. */
  at: number;
  /** "From now on": what follows is how things are to be done. */
  rule: boolean;
}

/** The request in one sentence, or null. `plain` must have quotes blanked. */
export function findRequest(plain: string): Request | null {
  for (const [act, pattern] of REQUESTS) {
    const match = pattern.exec(plain);
    const [start, end] = match?.indices?.groups?.what ?? [];
    if (!match || start === undefined || end === undefined) continue;
    if (act === "forget" && /^to\b/i.test(plain.slice(start))) continue;
    return { act: act === "forget" ? act : "remember", start, end, at: match.index, rule: act === "rule" };
  }
  return null;
}

/** What may come before a request: small talk, and the end of another clause. */
const LEAD = `(?:(?:please|pls|plz|ok(?:ay)?|oh|ah|hey|hi|hello|yes|yep|yeah|no|nope|wait|so|and|also|but|btw|by the way|thanks|thx|great|good|nice|cool|right|just|one more thing|one thing|important|sorry|note|reminder|fyi|heads up|quick note|actually|then|now|always|bitte|und|ach ja|übrigens|s'il te plaît|por favor|y|et)(?:[,:;.!]| -|)\\s+){0,5}`;
const START = `^${LEAD}`;
/** Also in the middle of a sentence, behind a comma: "it works, and please remember that …". */
const CLAUSE = `(?:^|[,;–—]\\s|\\s-\\s|\\s(?:and|but|also)\\s)${LEAD}`;
const WHAT = "(?<what>.*)$";
/** "remember for next time that …" */
const LATER = "(?: for (?:next time|later|the future|later sessions|future sessions|future reference))?";
const THAT = "(?:\\s*[:,]|\\s+(?:(?:that|the following|also|how|too)\\b[:,]?|this\\s*[:,-])|)\\s*";

const remember = (source: string): ["remember", RegExp] => ["remember", new RegExp(source, "di")];
const rule = (source: string): ["rule", RegExp] => ["rule", new RegExp(source, "di")];
const forget = (source: string): ["forget", RegExp] => ["forget", new RegExp(source, "di")];

/** In order: the negated ones ("don't forget") come before what they negate. */
const REQUESTS: readonly (readonly ["remember" | "rule" | "forget", RegExp])[] = [
  remember(
    `${CLAUSE}(?:do not|don't|dont|never) (?:ever )?forget(?! about it\\b)(?:\\s*[:,]|\\s+(?:that|about|this)\\b[:,]?|)\\s*${WHAT}`,
  ),
  remember(
    `${START}(?:i (?:want|need|would like|'d like) you to|you (?:should|must|need to|have to)) (?:always )?(?:remember|keep in mind|know|note)${THAT}${WHAT}`,
  ),
  remember(
    `${START}(?:can|could|would|will) you (?:please )?(?:remember|keep in mind|note|save|store|memori[sz]e|make a (?:mental )?note)${LATER} (?:that|this:)\\s*${WHAT}`,
  ),
  remember(
    `${START}(?:(?:one|another|a|some) (?:more )?things?|something|what|things) (?:you should |you must |to )(?:remember|keep in mind|note|know)${LATER}\\s*[:,-]\\s*${WHAT}`,
  ),
  // "remember when …" and "remember me" reminisce.
  remember(
    `${CLAUSE}(?:always )?(?:remember|memori[sz]e|keep in (?:mind|memory)|bear in mind)(?! (?:when|me|how (?:we|i|you)|last time|the (?:time|days))\\b|\\?)${LATER}${THAT}${WHAT}`,
  ),
  remember(
    `${START}(?:make|take|keep|leave) a (?:mental )?note${LATER}(?! of (?:the|how|what)\\b| (?:in|on|at|to|under) )(?:\\s*:|\\s+(?:that|of|to self|of this)\\b[:,]?|)\\s*${WHAT}`,
  ),
  remember(
    `${START}(?:notes?|memo) (?:to (?:self|you|yourself)|for (?:next time|later|the future|future sessions|yourself))\\s*[:,-]\\s*${WHAT}`,
  ),
  remember(
    `${START}note (?:that |this: ?|: ?)?(?<what>.*?),? (?:for|the) (?:next time|the future|later|future reference|future sessions)[.!]*$`,
  ),
  remember(
    `${START}(?:save|store|add|put|write|record|commit) (?:this|that|it|the following)?\\s*(?:down|to memory|in(?:to)? (?:your )?memory|to your memory|as a memory|in your notes|to your notes)(?![.\\w/-])\\s*[:,-]?\\s*(?:that\\s+)?${WHAT}`,
  ),
  remember(`${START}for the record\\s*:(?!\\s*i (?:never|didn't|did|told|said|was)\\b)\\s*${WHAT}`),
  remember(`${START}(?:save|store|memori[sz]e|record) (?:this|the following)\\s*[:,-]\\s*${WHAT}`),
  remember(
    `${START}(?:for (?:future reference|later reference|next time|the future|future sessions)|just so you know for (?:later|next time))\\s*[:,-]?\\s*${WHAT}`,
  ),
  rule(
    `${START}(?:from now on(?:wards?)?|from here on(?: out)?|going forwards?|moving forwards?|henceforth|hereafter|in (?:the )?future(?=,| please| always| never| don't| do not| use| ask| write| just))\\s*[:,-]?\\s*${WHAT}`,
  ),
  rule(`^${LEAD}(?<what>.*\\w),? (?:from now on|going forward|henceforth|in all future sessions)[.!]*$`),

  remember(
    `${CLAUSE}(?:merke? dir|denke? (?:bitte |in zukunft |künftig )?dara?n|behalte? (?:bitte )?im (?:hinter)?kopf|notiere? dir)(?: bitte)?(?: für (?:die Zukunft|später|das nächste Mal))?\\s*[:,]?\\s*(?:dass\\s+)?${WHAT}`,
  ),
  remember(`${START}(?:(?:bitte )?merken|(?:bitte )?nicht vergessen|à (?:retenir|noter))\\s*:\\s*${WHAT}`),
  remember(`${START}vergiss (?:bitte )?nicht\\s*[:,]?\\s*(?:dass\\s+)?${WHAT}`),
  rule(
    `${START}(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in zukunft|künftig|zukünftig|fortan)\\b\\s*[:,]?\\s*${WHAT}`,
  ),
  remember(
    `${START}(?:(?:souviens|souvenez|rappelle|rappelez)-(?:toi|vous)(?: bien)?|retiens|retenez|mémorise[rz]?|n'oublie[zs]? pas|garde[zs]? (?:en tête|à l'esprit)|notez? bien)\\s*[:,]?\\s*(?:que\\s+|qu'|de\\s+)?${WHAT}`,
  ),
  rule(`${START}(?:dorénavant|désormais|à partir de maintenant|à l'avenir)\\s*[:,]?\\s*${WHAT}`),
  remember(
    `${START}(?:recuerda|recuerde|acuérdate de|no (?:te )?olvides|ten(?:ga)? en cuenta|toma nota(?: de)?|anota|memoriza)\\s*[:,]?\\s*(?:que\\s+)?${WHAT}`,
  ),
  rule(`${START}(?:a partir de ahora|de ahora en adelante|en adelante)\\s*[:,]?\\s*${WHAT}`),
  remember(
    `${START}(?:lembre-se(?: de)?|lembra-te(?: de)?|não (?:se )?esqueça|ricordati|ricorda|non dimenticare|onthoud|vergeet niet)\\s*[:,]?\\s*(?:que\\s+|che\\s+|dat\\s+|di\\s+)?${WHAT}`,
  ),
  remember(
    `^(?:好的?[，,。]?)?(?:另外[，,]?)?(?:请|請|麻烦|麻煩)?(?:你)?(?:帮我|幫我)?(?:一定要)?(?:记住|記住|牢记|记下|記下|记一下|記一下|记得|記得|别忘了|別忘了|别忘记|不要忘记|不要忘了)\\s*[：:，,]?\\s*${WHAT}`,
  ),
  rule(`^(?:请|請)?(?:从现在起|从现在开始|從現在開始|从今以后|今后|以后)(?!再)\\s*[：:，,]?\\s*${WHAT}`),
  remember(
    `^(?:これは|次のことを|以下を)?(?:覚えておいて|覚えて|記憶して(?:おいて)?|メモして(?:おいて)?|忘れないで)(?:ください|下さい|ね)?\\s*[：:、,。]\\s*${WHAT}`,
  ),
  rule(`^(?:今後|これから|以後)(?!も)(?:は)?\\s*[：:、,]?\\s*${WHAT}`),
  remember(
    "^(?<what>.*?)(?:という(?:こと)?|こと|の)?(?:を|は|と)?(?:覚えておいて|忘れないで|記憶して(?:おいて)?|メモして(?:おいて)?)(?:ください|下さい|ね)?[。.!！]*$",
  ),
  remember(`^(?:꼭 )?기억해(?: ?줘| ?주세요)?\\s*[:,]?\\s*${WHAT}`),

  forget(
    `${START}(?:please )?(?:ignore|scratch|disregard|strike|cancel) (?<what>that|this|it|what i (?:just )?said)(?:[,.!;:]|$| (?:please|sorry|i was|it was)\\b).*$`,
  ),
  forget(`${START}(?:i take (?<what>that|it) back)\\b.*$`),
  forget(`${START}never ?mind (?<what>what i (?:just )?said)\\b.*$`),
  forget(
    `${START}(?:you (?:can|may|should) )?forget(?: about)?\\b(?! (?:it|me)\\b(?! about))\\s*[:,]?\\s*(?:that\\s+(?=\\S+\\s+\\S+\\s+\\S))?${WHAT}`,
  ),
  forget(
    `${START}(?:delete|remove|erase|drop) (?:the |that |your )?(?:memory|note|memories|notes)(?: (?:about|of|on|that|for))?\\s*[:,]?\\s*${WHAT}`,
  ),
  forget(
    `${START}(?:do not|don't|dont) remember (?<what>(?!this\\b|that\\b|it\\b|when\\b|where\\b).+?) any ?(?:more|longer)\\b.*$`,
  ),
  forget(
    `${START}(?:vergiss|lösche? (?:bitte )?(?:die )?(?:notiz|erinnerung)) (?!nicht\\b)(?:bitte )?(?:,? dass )?${WHAT}`,
  ),
  forget(`${START}(?:oublie[zs]?|supprime la note)\\s+(?!pas\\b)${WHAT}`),
  forget(`${START}(?:olvida|olvídate de|olvide|borra la nota)\\s+${WHAT}`),
  forget(`^(?:请|請|麻烦)?(?:忘记|忘記|忘掉|忘了|删除关于)\\s*[：:，,]?\\s*${WHAT}`),
  forget("^(?<what>.+?)(?:のこと)?(?:は|を)?忘れて(?:ください|下さい|ね)?[。.!！]*$"),
];
