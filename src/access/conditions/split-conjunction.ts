// Splits the text of a valid condition into the parts that all have to be true, as they are written.
//
//   condition  = "(" condition ")" | conjunct { "&&" conjunct } ;
//
// A condition with "||" or "?" outside of brackets is one part: they bind less tightly than "&&".

/** What is between brackets, and what begins or ends a text or a comment. The text of CEL's grammar: strings, with prefixes. */
const token = new RegExp(
  [
    // Raw strings, in which a backslash escapes nothing.
    String.raw`(?:[rR][bB]?|[bB][rR])(?:'''[^]*?'''|"""[^]*?"""|'[^']*'|"[^"]*")`,
    String.raw`'''(?:[^\\]|\\[^])*?'''|"""(?:[^\\]|\\[^])*?"""`,
    String.raw`'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"`,
    String.raw`//[^\n]*|&&|\|\||[?()[\]{}]|[A-Za-z0-9_]+|[^]`,
  ].join("|"),
  "g",
);

/** Returns the conjuncts of a condition; the condition itself if it has only one. */
export function splitConjunction(condition: string): readonly string[] {
  const text = condition.trim();
  const { cuts, isOther, isWrapped } = scan(text);
  if (isWrapped) return splitConjunction(text.slice(1, -1));
  if (isOther || cuts.length === 0) return [text];
  const starts = [0, ...cuts.map((cut) => cut + 2)];
  return starts.flatMap((start, index) => splitConjunction(text.slice(start, cuts[index])));
}

interface Scanned {
  /** Where "&&" is outside of brackets. */
  readonly cuts: readonly number[];
  /** Whether "||" or "?" is there. */
  readonly isOther: boolean;
  /** Whether the first bracket closes at the end. */
  readonly isWrapped: boolean;
}

function scan(text: string): Scanned {
  const cuts: number[] = [];
  let [depth, isOther, isWrapped] = [0, false, text.startsWith("(")];
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part === "(" || part === "[" || part === "{") depth++;
    else if (part === ")" || part === "]" || part === "}") depth--;
    else if (depth === 0 && part === "&&") cuts.push(index);
    else if (depth === 0 && (part === "||" || part === "?")) isOther = true;
    if (depth === 0 && index + part.length < text.length) isWrapped = false;
  }
  return { cuts, isOther, isWrapped };
}
