/**
 * How a sentence mentions a thing: as existing, gone, planned, or an example; and whether it is about another project.
 */

type Tense = "present" | "past" | "planned" | "example";

/** Words further away belong to something else. */
const REACH = 160;

/** Verbs and phrases whose object is gone, or never existed. */
const REMOVAL =
  /(?:^|[\s(,:*])(?:(?:delet|remov|dropp|retir|kill|ripp|scrapp|purg|abandon|discontinu|replac|supersed|eliminat|nuk|ditch|ax|nix|decommission|deprecat|phas|stripp|inlin)(?:ed|ing|es)(?: out)?|tore out|avoid(?: using)?|stay away from|re(?:move|place|tire)|delete|g[oe]t(?:s|ting)? rid of|no longer \w+|(?:moved|migrated|switched|renamed|split|extracted|ported|carved|factored)(?: (?:it|them|this|that|all|everything))?(?: out| away| off)? (?:from|of|off)|moved off|stop(?:ped|s)? (?:using|suggesting|proposing|adding|recommending)|(?:considered|rejected|evaluated|tried|ruled out|decided against)|(?:chose|prefer(?:red)?|picked) \S{1,40} over|not(?: in| at| from| under)?|nor|neither|instead of|rather than|in place of|formerly|previously|originally|once called|used to (?:be|live in|live at|live under|call|use|have|need)|(?:was|were) called|there (?:is|are|was|were) no|there['’]s no|ha(?:s|ve) no|without|(?:don['’]t|do not|never) (?:use|look for|bring back|expect|suggest|propose|add|re-?add|reintroduce|recommend|create|mention)|no more|never had|no|removal of|end of)$/i;
/** What may come between such a verb and the thing. */
const GLUE =
  /(?:[\s`"'(*,&]+|\b(?:the|our|its|all|both|any|use of|uses of|support for|old|unused|dead|files?|folders?|director(?:y|ies)|functions?|class(?:es)?|hooks?|flags?|variables?|modules?|packages?|scripts?|branch(?:es)?|dependenc(?:y|ies)|env|and|or|with))$/i;
const CODE_LIKE =
  /(?:^|[\s`("'])(?:[\w@$-]*[./_][\w./@$#-]*|[\w$]*[a-z][A-Z][\w$]*|[\w.$]+\(\)|`[^`]*|--[\w-]+|[A-Z][A-Z0-9_]{2,})$/;
/** Verbs whose object is no longer where it was, if the sentence continues with where it went. */
const MOVING =
  /(?:^|[\s(,:*])(?:mov|renam|migrat|port|extract|split|convert|refactor|merg|fold|inlin|consolidat|combin|collaps|turn|rewrot|relocat)(?:ed|ing|es|t)?$/i;
const WENT = /^[`"')\s*]*[^.;]{0,60}?(?:\b(?:in)?to\b|\bunder\b|\bout of\b|→|->)/i;
/** A list, or a sentence behind a colon, under such words. */
const LEADS: readonly [RegExp, Tense][] = [
  [
    /\b(?:removed|deleted|dropped|gone|retired|deprecated|obsolete|no longer|used to|former(?:ly)?|previously|replaced|old (?:names?|paths?|layout|files|location))\b/i,
    "past",
  ],
  [
    /\b(?:todo|to[- ]do|not (?:yet )?(?:built|started|implemented|there)|do(?:es)?(?: not|n['’]t) exist(?: yet)?|planned|plans?|proposed|ideas?|will (?:add|create|become)|next steps?|future|roadmap|wish ?list|should (?:add|create))\b/i,
    "planned",
  ],
  [/\b(?:examples?|e\.g\.|for instance|template|placeholder|sample)\b/i, "example"],
];
const PAST_WORD =
  /(?:\b(?:old|former|previous|legacy|original)\s+(?:path|name|location|file|place|home|version)\b[^.;]{0,20}|\b(?:old|former|ex-|previous|was|were|obsolete|defunct|removed|deleted|deprecated|dead)\s*[`"'(]*|\((?:was|formerly|previously|née|old)[:\s]+[`"']*)$/i;
const PAST_FAR =
  /\b(?:used to|no longer|formerly|previously|back (?:then|when)|in the old days|before (?:the )?(?:re(?:factor|write|design|organi[sz]ation|structur)\w*|migration|move|split|rename)|historically|once upon|does not exist|doesn['’]t exist|anymore)\b/i;
/** After one of these the sentence speaks of now. */
const TURN =
  /\b(?:now|but|use|instead|since then|today|currently|these days|nowadays|moved to|replaced (?:by|with)|in favou?r of|became|is now|are now|lives?|renamed to)\b/i;

const PAST_AFTER =
  /^[`"')\s*:—–-]*(?:\([^)]{0,60}\)\s*)?(?:(?:and|,|or)\s+[`"'\w./()-]+[`"']?\s+){0,3}(?:(?:file|folder|directory|function|class|hook|flag|variable|module|package|script|branch|dependency|env var)\s+)?(?:(?:was|were|is|are|has been|have been|had been|got|been|being)\s+(?:(?:now|also|all|since|finally|already|both|later|merged[\w\s]{0,20}and)\s+)*(?:delet|remov|dropp|renam|retir|replac|supersed|scrapp|split|gone\b|history\b|dead\b|no longer|no more|not (?:used|there)|obsolete|merged|moved|folded|absorbed|unset|discontinued|deprecated|cut\b)|no longer|(?:does|do|did)(?:n['’]t| not) exist|went away|(?:has |have )?(?:moved|migrated|went|split) (?:(?:in)?to|under|out|away|over)\b|,?\s*(?:now |since )?(?:replaced|superseded|renamed|deleted|removed|dropped|retired) (?:by|with|in|to|as|since)\b|became\b|vanished|disappeared|used to\b|can be (?:unset|removed|deleted|dropped)|\(?(?:removed|deleted|gone|dropped|retired|renamed|obsolete|deprecated|merged and deleted)\b|doesn['’]t exist|any ?more\b|has gone)/i;

/** `a` → `b`: what is left of an arrow is how it was. */
const ARROW_AFTER = /^[`"')\s*]*(?:→|⇒|->|=>|➜|⟶)/;
const RENAMES = /\b(?:mov|renam|migrat|replac|was|becam|chang|old)/i;
/** What follows is the replacement. */
const NEW_PLACE =
  /(?:(?:→|⇒|->|=>|(?<!\bused|\bdue)\s(?:in)?to)|\b(?:replac|swap|supersed|chang|substitut)\w*[^.;]{0,80}\b(?:with|by|for))\s*[`"']*$/i;
/** "X replaced Y": what is left of it is how it is now. */
const REPLACES_AFTER =
  /^[`"')\s*()]*(?:\([^)]{0,60}\)\s*)?(?:has |have )?(?:replaced|replaces|supersedes|superseded)\b/i;

const PLANNED =
  /(?:\b(?:will|should|shall|would|could|might|may|going to|plans? to|planned|want(?:s)? to|wanted to|need(?:s)? to|todo|to-do|let['’]s|to be|once we|if we|next step|propos\w+|idea|intend\w*|suggest\w*)\b[^.]{0,60}?\b(?:creat\w*|add(?:ed)?|introduc\w*|writ\w*|build|extract\w*|split|implement\w*|renam\w*|mov\w*|become|be called|be named|live in|be tagged|tag|put|land in|go(?:es)? (?:in)?to|end up|migrat\w*|replac\w*)\b)|^\s*[-*+]\s+\[ \]|^\s*(?:plan|todo|to do|idea|proposal|next|later|wish)s?\b\s*:|\b(?:not yet|yet to be|does not exist yet|if we ever)\b/i;

const EXAMPLE_BEFORE =
  /(?:\b(?:e\.g\.?|for example|for instance|examples?:?|something like|names? like|named like|looks? like|such as|like|say|imagine|hypothetical\w*|placeholder|dummy|fictional)[,:]?(?:\s+(?:a|an|the|one|file|this))?)\s*[`"'(]*$/i;
const EXAMPLE_NEAR =
  /\b(?:e\.g\.|(?:for example|for instance|hypothetical(?:ly)?|made[- ]up|fictional|placeholder)\b)/i;

/** A program's own error message says that the thing does not exist. */
const COMPLAINT =
  /\b(?:cannot find|can['’]t find|could not find|not found|no such file|ENOENT|ModuleNotFoundError|ImportError|Traceback|failed to (?:load|resolve|import|find))\b[^.;]{0,60}$/i;
const IF_BEFORE = /\b(?:if|whether|unless|in case)\b[^.;,]{0,60}$/i;
const IF_AFTER =
  /^[`"')\s*]*(?:still |ever |already )?(?:exists?|is (?:there|missing|gone|present)|comes back|shows up|appears)\b/i;
const IF_SEEN = /\bif (?:you|we|somebody|anyone) (?:still )?(?:see|find|come across|encounter)\b[^.;,]{0,60}$/i;

const FOREIGN =
  /\b(?:other|another|separate|different|sibling|upstream|external|third[- ]party|their|his|her|customer['’]?s?|client['’]?s?|vendor['’]?s?|partner['’]?s?)\s+(?:[\w-]+\s+)?(?:repo(?:sitor(?:y|ies))?s?|projects?|codebases?|monorepo|app)\b|\bupstream\b|\bnode_modules\b|\b(?:S3|GCS|1Password|vault|Confluence|Notion|Google Drive|Sharepoint|Dropbox)\b/i;
const NAMED_PROJECT =
  /\b(?:in|from|of|inside|under)\s+(?:the\s+)?[`"']?([\w.-]+(?:\/[\w.-]+)?)[`"']?(?:['’]s)?\s+(?:repo(?:sitory)?|project|codebase|monorepo)\b/gi;
const OWN = /^(?:this|our|the|same|main|current|whole|entire|my|own|mono|git|root|new)$/i;

/** Whether it is of another project is asked of the whole paragraph: `isForeign`. */
export function tenseOf({ text, lead }: { text: string; lead: string }, at: number, end: number): Tense {
  const before = text.slice(Math.max(0, at - REACH), at);
  const after = text.slice(end, end + REACH);
  if (REPLACES_AFTER.test(after)) return "present";
  if (isPast(before, after, text)) return "past";
  const led = tenseOfLead(lead, text.slice(0, at));
  if (led !== null) return led;
  if (EXAMPLE_BEFORE.test(before) || EXAMPLE_NEAR.test(before)) return "example";
  if (COMPLAINT.test(before) || IF_SEEN.test(before)) return "example";
  // A question claims nothing, nor does a condition.
  if (text.trimEnd().endsWith("?") || (IF_AFTER.test(after) && IF_BEFORE.test(before))) return "planned";
  return PLANNED.test(before) ? "planned" : "present";
}

/** `names` are what this project is called. */
export function isForeign(text: string, names: readonly string[]): boolean {
  if (FOREIGN.test(text)) return true;
  if (!/repo|project|codebase/i.test(text)) return false;
  for (const [, name = ""] of text.matchAll(NAMED_PROJECT)) {
    const own = OWN.test(name) || names.some((each) => each !== "" && name.toLowerCase().endsWith(each.toLowerCase()));
    if (!own) return true;
  }
  return false;
}

/** "Removed in 1.1: a, b" and a list under "Removed files:". */
function tenseOfLead(lead: string, before: string): Tense | null {
  const colon = /^[\s*#>-]*([^:`]{3,60}):\**\s/.exec(before)?.[1] ?? "";
  for (const [words, tense] of LEADS) if (words.test(lead) || words.test(colon)) return tense;
  return null;
}

function isPast(before: string, after: string, text: string): boolean {
  if (PAST_AFTER.test(after)) return true;
  if (ARROW_AFTER.test(after)) return RENAMES.test(text) || /[→⇒]/.test(after);
  if (NEW_PLACE.test(before)) return false;
  if (isObjectOf(REMOVAL, before) || PAST_WORD.test(before)) return true;
  if (WENT.test(after) && isObjectOf(MOVING, before)) return true;
  const far = PAST_FAR.exec(before);
  if (far) return !TURN.test(before.slice(far.index + far[0].length));
  return (
    /^[^.;,]{0,60}\b(?:any ?more|no longer exists?|(?:does|do)(?: not|n['’]t) exist)\b/i.test(after) &&
    /\b(?:no|not|n['’]t|none)\b/i.test(before + after)
  );
}

/** Goes back over what belongs to the object: articles, kinds of things, other things of a list. */
function isObjectOf(verb: RegExp, before: string): boolean {
  let rest = before;
  for (let turns = 0; turns < 24; turns++) {
    if (verb.test(rest.trimEnd())) return true;
    const glue = GLUE.exec(rest);
    if (glue) {
      rest = rest.slice(0, glue.index);
      // "redis and celery": what is joined by a word is one object.
      if (/^(?:and|or)$/i.test(glue[0]))
        rest = rest.replace(/[\s`"'(]*[\w-]+[`"'\s]*$/, (word) => (verb.test(word) ? word : ""));
      continue;
    }
    const other = CODE_LIKE.exec(rest);
    if (!other) return false;
    rest = rest.slice(0, other.index);
  }
  return false;
}
