// The letters that a search takes for the same. PostgreSQL folds case by the locale of the database, and some know ASCII only; so
// these are Unicode's, computed here, and the database maps only those that a search has.

/**
 * The letters that are neither the lower-case nor the upper-case form of another one, though they differ from it by case alone, as
 * the final sigma does.
 */
const otherForms: ReadonlyMap<string, string> = new Map(
  Array.from(
    "µǅǈǋǲ\u0345ςϐϑϕϖϰϱϴϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼ\u1fbeῌῼ\u2126\u212b",
    (letter) => [letter, foldLetter(letter)] as const,
  ),
);

/** A text in lower case, and the letters beyond ASCII that have to be replaced in others to compare them with it. */
export interface FoldedText {
  readonly text: string;
  /** The letters to replace, and at the same position what takes their place. */
  readonly from: string;
  readonly to: string;
}

/**
 * Folds a text by the simple case folding of Unicode, which changes no number of letters. Letters of ASCII are folded with each other
 * only, so K is not the Kelvin sign and i is no i without a dot.
 */
export function foldCase(text: string): FoldedText {
  const letters = Array.from(text, foldLetter);
  const pairs = Array.from(new Set(letters)).flatMap((letter) => formsOf(letter).map((form) => [form, letter]));
  return {
    text: letters.join(""),
    from: pairs.map(([form]) => form).join(""),
    to: pairs.map(([, letter]) => letter).join(""),
  };
}

/** Returns a letter in its one form: the lower case of its upper case, if each is one letter. */
export function foldLetter(letter: string): string {
  if (isAscii(letter)) return letter.toLowerCase();
  const lower = single(upperOf(letter).toLowerCase()) ?? upperOf(letter);
  return isAscii(lower) ? letter : lower;
}

/** Returns the letters beyond ASCII that are folded to another one. */
function formsOf(folded: string): string[] {
  if (isAscii(folded)) return [];
  const upper = upperOf(folded);
  const forms = Array.from(otherForms).flatMap(([form, letter]) => (letter === folded ? [form] : []));
  return upper === folded || foldLetter(upper) !== folded ? forms : [upper, ...forms];
}

function upperOf(letter: string): string {
  return single(letter.toUpperCase()) ?? letter;
}

function single(text: string): string | undefined {
  return Array.from(text).length === 1 ? text : undefined;
}

function isAscii(letter: string): boolean {
  return letter <= "\u007f";
}
