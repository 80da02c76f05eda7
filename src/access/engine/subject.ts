/** Who access is given to, by its record in the snapshot. */
export interface Subject {
  readonly kind: "member" | "group";
  readonly record: number;
}

/** Members and groups in one numbering. */
export function subjectNumber(kind: Subject["kind"], record: number): number {
  return kind === "group" ? record * 2 + 1 : record * 2;
}

export function isGroup(subject: number): boolean {
  return (subject & 1) === 1;
}

/** The record of the member or group. */
export function recordOf(subject: number): number {
  return subject >>> 1;
}
