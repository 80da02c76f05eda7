/** A member or group, by its record in the snapshot. */
export interface Subject {
  readonly kind: "member" | "group";
  readonly record: number;
}

/** Returns the number of a subject. Members and groups share one numbering. */
export function subjectNumber(kind: Subject["kind"], record: number): number {
  return kind === "group" ? record * 2 + 1 : record * 2;
}

export function isGroup(subject: number): boolean {
  return (subject & 1) === 1;
}

export function recordOf(subject: number): number {
  return subject >>> 1;
}
