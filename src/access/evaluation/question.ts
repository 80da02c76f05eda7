import type { CelInput } from "@bufbuild/cel";
import type { Caller } from "../../identity/caller.ts";
import type { SubjectReference } from "../engine/find-grant.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

/** Who asks for access. */
export interface Question {
  readonly subject: SubjectReference;
  /** What conditions see as `context`. */
  readonly attributes: Readonly<Record<string, CelInput>>;
  /** By the database's clock, in milliseconds. */
  readonly now: number;
}

/** Asks on behalf of a caller. */
export function questionOf({ memberId, time }: Caller): Question {
  return { subject: { kind: "member", id: memberId }, now: time, attributes: {} };
}

/** The subject by its id: a record is good only until the snapshot is moved forward. */
export function subjectById({ members, groups }: OrgSnapshot, subject: SubjectReference): SubjectReference {
  if ("id" in subject) return subject;
  const { kind, record } = subject;
  return { kind, id: (kind === "member" ? members : groups).idOf(record) };
}
