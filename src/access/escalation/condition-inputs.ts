// Whether a condition reads something that people can change: who changes that may change who holds what. The text of the
// condition decides; where it leaves that open the answer is yes, and more is asked of the author of the change.
import type { Labels } from "../grants.ts";

/** @param condition in CEL. */
export function readsSubject(condition: string): boolean {
  return /\bsubject\b/.test(condition);
}

export function readsPath(condition: string): boolean {
  return /\bresource\b(?!\s*\.\s*labels\b)/.test(condition);
}

/** The ways to read one label, which is the group that matched. */
const ofOneLabel = [
  /\bresource\s*\.\s*labels\s*\.\s*([A-Za-z_]\w*)(?!\w*\s*\()/g,
  /\bresource\s*\.\s*labels\s*\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\]/g,
  /(?:"([^"\\]*)"|'([^'\\]*)')\s*in\s*resource\s*\.\s*labels\b(?!\s*[.[(])/g,
];

export function readsLabel(condition: string, key: string): boolean {
  const keys = new Set<string | undefined>();
  let rest = condition;
  for (const pattern of ofOneLabel) {
    for (const [, ...groups] of rest.matchAll(pattern)) for (const group of groups) keys.add(group);
    rest = rest.replaceAll(pattern, " ");
  }
  // What is left reads all of them, or one that is worked out.
  return keys.has(key) || /\blabels\b/.test(rest) || /\bresource\b(?!\s*\.\s*path\b)/.test(rest);
}

/** The keys of labels that two sets do not share with the same value. */
export function changedKeys(before: Labels, after: Labels): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]);
}
