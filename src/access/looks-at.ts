// Whether a condition looks at something that people can change. Whoever changes that may change who holds what. It is told
// from the text: what is said too often is only asked for once more.

/** @param condition in CEL. */
export function looksAtSubject(condition: string): boolean {
  return /\bsubject\b/.test(condition);
}

export function looksAtPath(condition: string): boolean {
  return /\bresource\b/.test(condition) && /\bpath\b/.test(condition);
}

export function looksAtLabel(condition: string, key: string): boolean {
  if (!/\blabels\b/.test(condition)) return false;
  // A key that is worked out, or written with escapes, can be any.
  return condition.includes(key) || condition.includes("\\") || /\blabels\s*\[\s*[^"'\s]/.test(condition);
}

/** The keys of labels that two sets do not share with the same value. */
export function changedKeys(before: Labels, after: Labels): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]);
}

type Labels = Readonly<Record<string, string>>;
