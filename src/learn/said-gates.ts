/** Why a sentence is not worth keeping, whatever words are in it: questions, what holds for one task only, jokes, credentials. */

import { SECRET, type Sentence } from "./said-speech.ts";

type Gate = (text: string) => boolean;

function says(...patterns: readonly RegExp[]): Gate {
  return (text) => patterns.some((pattern) => pattern.test(text));
}

export function isAny(plain: string, ...gates: readonly Gate[]): boolean {
  return gates.some((gate) => gate(plain));
}

/** "Don't save this": nothing of the whole message is kept. */
export function forbidsKeeping(message: string): boolean {
  return isNotToKeep(message.replace(/[’‘]/g, "'"));
}

const isNotToKeep = says(
  /(?:^|[.,;:!?\n] ?|\b(?:please|but|and|so|ok|also) )(?:do not|don't|dont|never) (?:save|remember|store|record|memori[sz]e|note|keep|write down|log|repeat) (?:any of )?(?:this|that|it|what i)\b(?= ?(?:$|[.,;:!\n]|but\b|please\b|anywhere\b|down\b|to (?:your )?memory\b|in (?:your )?memory\b|said\b|say\b|just\b|tell\b))/im,
  /\b(?:no need|you (?:don't|do not) (?:have|need)|needn't) (?:to )?(?:save|remember|store|note|record|keep|write|memori[sz]e) (?:this|that|it|any of)\b/i,
  /\b(?:do not|don't|dont|never) (?:write|put|note|quote|mention|leave) (?:any of )?(?:this|that|it) (?:down|anywhere)\b/i,
  /\boff the record\b|\bbetween (?:you and me|us)\b|\bkeep (?:this|that) (?:to yourself|between)\b/i,
  /\b(?:merk|speicher)e? (?:dir )?(?:das|dies) (?:bitte )?nicht\b|\bne (?:retiens|note|mémorise|sauvegarde) pas\b|\bno (?:guardes|recuerdes|anotes) (?:esto|eso)\b/i,
  /(?:不要|别)(?:记住|记下|保存)(?:这|它)|覚えなくて|保存しないで/,
);

/** Applies to everything, including explicit requests. */
export function saysNothing({ text, plain }: Sentence): boolean {
  return text.includes(SECRET) || isSecret(text) || isOneTimeOrKnown(plain);
}

const SECRET_NAME =
  "(?:pass ?words?|passwd|pwd|passphrase|passcode|api ?keys?|(?:access |auth |api |bearer )?tokens?|secrets?|credentials?|pin|Passwort|Kennwort|mot de passe|contraseña)";

/** A credential in everyday words: its name, then a value that is no ordinary word. */
const isSecret = says(
  new RegExp(
    String.raw`\b${SECRET_NAME}\b[^.,;\n]{0,40}?(?:\bis|\bare|\bist|\best|\bes|[:=])\s*["'\x60]?(?=\S{4,})(?=\S*[\d!@#$%^&*_])\S+`,
    "i",
  ),
  // "user svc-import, password Troll#44" and "pass Troll_44": a value right after the name, with more than letters in
  // it.
  new RegExp(
    String.raw`(?:(?<=^|[,;:/(] ?)(?:pass|pw)|\b${SECRET_NAME})[ :=]+["'\x60“„]?(?=\S{6,})(?=\S*\p{L})(?=\S*[\d!@#$%^&*_])\S+`,
    "iu",
  ),
  /\b(?:pass ?word|passphrase|passcode|Passwort|Kennwort)\b[^.,;\n]{0,20}["'`“„«][^"'`”“»]{4,}/i,
  /\b(?:pin|cvc|cvv|tan)\b[^.,;\n]{0,30}\b\d{3,8}\b/i,
  /\b(?:door|entry|access|alarm|gate|safe|lock|wi-?fi|vpn|login)[ -](?:code|key|pass\w*|pin|combination)\b.{0,60}?\d{3,}/i,
  /(?:密码|密碼|パスワード)(?:是|は|[:：=])\s*\S{4,}/,
);

const isOneTimeOrKnown = says(
  // A joke.
  /\b(?:lol|rofl|lmao|ha(?:ha)+|hehe|jk|just kidding|joking|yeah,? right|what could (?:possibly )?go wrong|said no one)\b|😂|🤣|[;:]-?[DP](?:\s|$)/i,
  // Explicitly meant for one occasion.
  /\b(?:just|only) (?:for )?this (?:once|time|one|answer|session|task)\b|\b(?:just|only) (?:for )?(?:once|now|today)\b|\bthis (?:once|time only)\b|\b(?:for|in) this (?:answer|reply|session|conversation|chat)\b|\bi'm (?:in a hurry|busy|tired|late|hungry|in a meeting|about to|on (?:the (?:train|phone|road|bus)|mobile))\b/i,
  // An appeal to what the instruction files or the code say already.
  /\b(?:as|like|per|see|according to|following)\b[^.]{0,30}(?:\b(?:CLAUDE|AGENTS|GEMINI|CONTRIBUTING|README)\.md\b|\.(?:editorconfig|clang-format|eslintrc|prettierrc)\b)|\b(?:CLAUDE|AGENTS|GEMINI)\.md (?:already )?says\b/i,
);

/** What anyone can look up: "we use React 19, see package.json". */
export const isDerivable = says(
  /\b(?:see|look at|as in|like in|per|according to|it's in|that's in|defined in|set in) (?:the )?\S*\.(?:json|toml|ya?ml|ini|cfg|cmake|gradle|xml|lock|txt|md|rs|py|go|tsx?|jsx?|c|cpp|h|hpp|java|kt|rb|env)\b/i,
  /\b(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?\.md\b/i,
  /\b(?:tags?|commits?|git log|history|blame|diff|changelog|lock ?file|config|code|schema|source|manifest|makefile) (?:already )?(?:says?|shows?)\b/i,
  /\b(?:as|like) (?:you|i|we) (?:can )?see\b|\bi see[.!]*$/i,
);

/** Whether a sentence asks. Requests that begin with "can you" ask too; those to remember are looked at before. */
export const isQuestion = says(
  /[?？]["')\s]*$/,
  /^[¿]/,
  /, (?:is|are|does|did|can|could|would|will) (?:it|they|you|we|that)\b[^,]*$/i,
  /, (?:so |and |but )?(?:what|why|how|where|who|which) (?:is|are|does|do|did|can|could|should|would|was|were)\b/i,
  /(?:吗|嗎|か)[。\s]*$/,
  /^(?:(?:so|and|but|ok|hm+|well|also)[,:]? )?(?:(?:why|what|how|where|who|whose|which)(?!ever|as)|do (?:i|we|you|they)\b|(?:should|shall|could|would|can|will|does|did|is|are|was|were|has|have) (?:i|we|you|it|he|she|they|this|that|there|the|a|an|someone|anyone)\b(?! to\b)|was meinst|sollten wir|kannst du|est-ce que)/i,
);

/** Thought aloud, not said. */
export const isHypothetical = says(
  /\b(?:if (?:i|we|you) (?:say|said|ask|asked|tell|told|were|had|would|wanted|type)|(?:we|i|you|they) could|suppose|supposing|imagine|what if|if .{3,60} we(?:'d| would)|just a thought|(?:in|at|with) (?:the|my|our) (?:old|last|previous|former) (?:project|team|company|job|firm|workplace)|(?<!'m |am |get |got )used to(?! (?:it|that|this)\b)|wanted to|apparently|allegedly|supposedly|i heard|heard that|according to (?:the |a |their )?(?:[\w-]+ )?(?:blog|website|docs?|documentation|manual|page|internet|changelog|spec|readme|release notes|article)|it says|end[- ]of[- ]life|eol|there's talk|rumou?rs?|nothing official|not convinced|in an ideal world|hypothetically|let's say|assuming|pretend|maybe|perhaps|might|probably|possibly|not sure|unsure|i wonder|i wish|i guess|i think about|thinking (?:about|of|aloud)|considering|would be nice|some ?day|undecided|not (?:yet )?(?:decided|confirmed|deciding|final)|(?:haven't|hasn't|didn't|not) (?:yet )?(?:decide|agree|settle)d?|decided nothing|no decision|in theory|for example|e\.g\.)\b/i,
);

/** For the task at hand only. */
export const isTaskScoped = says(
  /\b(?:for now|for the moment|for the time being|at the moment|right now|temporar(?:y|ily)|for (?:an|the next|another|one|a few|\d+) (?:hours?|minutes?|min)|until i\b|while i\b|first,? then|for a (?:moment|bit|while|sec|second)|until (?:lunch|noon|dinner)|i'm (?:still |currently |just |already )?[a-z]+ing (?:on |at )?(?:it|that|this|them|there)|this time|on my branch|in a (?:minute|moment|second)|i (?:just )?(?:want|need|have|wanted) to (?:see|check|know|find out|look at|understand) (?:where|why|what|how|if|whether|which|it|this|that)|while we\b|before (?:i (?:leave|go)|the (?:demo|meeting|call))|once (?:it|this|that) (?:is|'s)|when (?:it|this|that)(?:'s| is) done)\b/i,
  /\b(?:(?:in|for|on|to|of|from|with) (?:this|these|my|the current)|(?:in|for) (?:that|those)) (?:new )?(?:one|prs?|pull request|mr|branch|file|function|method|class|component|test|case|commit|diff|change|patch|ticket|task|issue|line|block|loop|answer|module|page|screen|run|build|job|error|bug|example|snippet|script|query|step|folder|directory|table|list|view|dialog|form|call|request|client|handler|endpoint|refactoring|feature|story|sprint|review|demo|exercise|round|iteration|rebase)s?\b/i,
  /\b(?:in|for|on|during|with) this (?!(?:repo|repository|project|code ?base|code|team|company|org|organi[sz]ation|monorepo|product|app|library|house)\b)[a-z]/i,
  /\b(?:yet|here in|over here|this one|the (?:first|second|third|last|other) (?:one|option))\b/i,
  /\b(?:line \d+|lines \d)/i,
);

/** What the program is to do or to look like: the work itself, which the code will show. */
export const isAboutProgram = says(
  /^(?:the|this|that|an?|each|every|all|any|our|new|both|these|those) (?:[\w-]+ ){0,2}(?:buttons?|banners?|labels?|dialogs?|modals?|forms?|columns?|rows?|tables?|lists?|fields?|inputs?|outputs?|variables?|functions?|methods?|class(?:es)?|arguments?|parameters?|params?|loops?|pages?|headers?|footers?|sidebars?|menus?|tabs?|icons?|colou?rs?|spinners?|tooltips?|dropdowns?|checkbox(?:es)?|endpoints?|requests?|responses?|queries|query|strings?|arrays?|objects?|props?|hooks?|types?|interfaces?|regex(?:es)?|selectors?) (?:\S+ ){0,3}?(?:is|are|must|has to|have to|should|needs?|may|might|can|shows?|returns?)\b/i,
);

/** "Use a map here, not a list": one place in the code, where "we use maps here" is the team's way. */
export function isSpot(plain: string): boolean {
  return (
    /\bhere\b(?=[,.;!]|$)/i.test(plain) &&
    (isOrder(plain) || /^(?:do not|don't|dont|never|no)\b/i.test(plain)) &&
    !/\b(?:always|never|anywhere|everywhere|nobody)\b/i.test(plain) &&
    !TOOL.test(plain)
  );
}

/** Choices that are never made for one place only: "don't use npm here, use pnpm". */
const TOOL =
  /\b(?:npm|pnpm|yarn|bun|pip|uv|poetry|conda|docker|podman|jest|vitest|mocha|pytest|cargo|gradle|maven|bazel|cmake|webpack|vite|eslint|biome|prettier|black|ruff|mypy)\b/i;

/** Where a person is today is not who they are; nor is a figure of speech, or a story about a user of the program. */
export const isNoPerson = says(
  /\b(?:today|tonight|this (?:morning|afternoon|evening)|right now|(?:at|until|till) \d{1,2})\b/i,
  /\bno expert\b|\bbut (?:this|that|it) (?:looks?|seems?|feels?)\b|\bi'm an? (?:simple|happy|sad|lazy|bad|idiot)\b|^as an? .{2,40}?,? i (?:can(?!'t)|want|would|should|must|need|see)\b/i,
);

/** Where something is for the moment or for one use. */
export const isPassingUse = says(/\b(?:today|for this|for now|when (?:you(?:'re| are) )?(?:done|ready|finished))\b/i);

/** "i hate when it does that" */
export const isSigh = says(/^(?:\S+ ){1,6}(?:it|that|this)(?: \S+){0,2}[.!]*$/i);

/** "…, find the spike": what was told before is there for the task that follows. Verbs for talking to a person are not among them. */
export const endsInTask = says(
  /(?:, (?:(?:so|and|please|then|just|now) ){0,3}| so please )(?:hurry|let's|collect|send|ship|cancel|renew|i (?:need|want)\b|i'd like|merge|revert|undo|restore|push|commit|rerun|retry|look(?! there\b)|add|change|find|fix|prepare|make|update|remove|delete|run|check|implement|finish|move|rename|set|create|write|give|take|start|stop|kill|open|try|do|put|bump|skip|build|adjust|adapt|handle|stream|drop|get(?! access)|go (?:and|ahead|on)|convert|replace|apply|test|read|wait|review|mock|profile|automate|list|tell me|show me|clean|copy|fill|insert|install|sort|split|wrap|port|use (?:it|that|this|a|the)|have a (?:look|read)|here(?:'s| is)|[a-z]+ (?:it|that|them|this|those|one)[.!]*$|right|ok|you (?:do|can|should)|can you|could you)\b/i,
);

/** Words that introduce what another person said: what follows was not said by the person. */
export function isReported(before: string): boolean {
  return /\b(?:says?|said|saying|reads?|prints?|printed|outputs?|shows?|states?|warns?|complains?|writes?|wrote|logs?|logged|asks?|error|warning|message|comment|titled|called|named|quote|sagt|dit|dice)\b[^.]*$/i.test(
    before.slice(-200),
  );
}

/** "Don't forget to push", "do you remember that trick we used", "bear in mind it's late": for the task, or for the talk. */
export function isReminder(request: string, what: string): boolean {
  const words = what.split(/\s+/);
  const general =
    /\b(?:always|never|every|each|any|all|when(?:ever)?|before|after|must|because|otherwise|ever)\b/i.test(what);
  if (/\bforget\b/i.test(request.split(what)[0] ?? "")) {
    if (/^to\b/i.test(what) && (!general || isTaskScoped(what) || /\b(?:this|that|it)\b/i.test(what))) return true;
    if (words.length < 4 && !general) return true;
  }
  // "remember to close the file": with a reason or of all such cases it is more than that.
  if (/^to\b/i.test(what) && !general && !/, \S+ \S+/.test(what) && CODE_WORK.test(what)) return true;
  if (
    /\?\s*$/.test(request) &&
    /\b(?:you|we|i) (?:showed|used|did|had|told|mentioned|discussed|saw|wrote)\b/i.test(what)
  )
    return true;
  // What was shown or said before, and what is too short to mean anything later.
  if (/^(?:what (?:i|we|you)\b|the [\w-]+(?:,| from (?:before|earlier)\b| (?:i|we|you)\b|$))/i.test(what)) return true;
  if (words.length < 3 && /^[a-z' -]+[.!]*$/.test(what)) return true;
  return words.length < 4 && /^(?:it|it's|they|they're|he|she|there)\b/i.test(what);
}

const CODE_WORK =
  /\b(?:the|this|that|your|my|an?) (?:[\w-]+ )?(?:files?|functions?|methods?|class|tests?|imports?|semicolons?|branch|commits?|handles?|connection|variables?|loop|line|changes?|changelog|docs|readme|types?|version)\b|^to (?:push|commit|save|merge|rebase)\b/i;

const VERBS =
  "add|adjust|amend|apply|ask|build|bump|call|change|check|clean|close|combine|commit|compare|compile|continue|convert|copy|create|cut|debug|delete|deploy|describe|disable|do|document|draft|drop|dump|edit|enable|exclude|execute|explain|export|extract|fetch|find|finish|fix|format|generate|get|give|go|grep|handle|help|implement|import|improve|include|inline|insert|hide|inspect|install|investigate|keep|kill|leave|list|load|log|alert|notify|render|display|throw|return|raise|warn|look|make|merge|mock|move|open|optimi[sz]e|paste|patch|pick|port|print|pull|push|put|read|rebase|refactor|release|reload|remove|rename|reorder|replace|report|rerun|reset|restart|restore|retry|revert|review|rewrite|roll|run|save|scan|search|see|send|set|ship|show|simplify|skip|sort|split|squash|start|stop|strip|summari[sz]e|switch|tag|take|tell|test|trace|translate|trim|try|turn|type|undo|update|upgrade|upload|use|validate|verify|wait|wire|wrap|write";

/** An order for work: begins with a verb that people give to coding agents. */
export const isOrder = says(
  new RegExp(
    `^(?:(?:please|pls|ok|okay|and|then|now|so|also|just|yes|yep|great|good|thanks|thx|cool|fine|let's|lets|can you|could you|go ahead and|bitte)[,.!:]? ){0,4}(?:${VERBS})\\b(?! (?:(?!(?:the|that|a|an|if|why|how|what|where|whether|all|my|it|this|which)\\b)[\\w-]+ ){0,2}(?:is|are|was|were|has|have|will|must|should|goes|go|now|live|lives|come|comes|needs?|starts?|ends?|expires?|moves?|belongs?)\\b)`,
    "i",
  ),
);

/** Too short to mean anything next to a rule: thanks, agreement, a word. */
export function isChatter(plain: string): boolean {
  return (
    plain.length < 12 ||
    /^(?:ok|okay|thanks|thank you|thx|great|perfect|nice|cool|good|fine|yes|no|yep|sure|got it|done|sorry|hi|hello|hey|right|anyway|moving on|never ?mind|go on|go ahead|that's (?:it|all)|let's)\b[^,:]{0,25}$/i.test(
      plain,
    )
  );
}
