import type { JsonObject } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { SubjectReference } from "../access/engine/find-grant.ts";
import type { OrgSnapshot } from "../access/engine/org-snapshot.ts";
import { subjectById } from "../access/evaluation/question.ts";
import { invalidField } from "../errors/service-error.ts";
import { patterns } from "../paths/patterns.ts";
import { type Reference, parseAnyPath } from "../paths/resource-path.ts";
import type { Staleness } from "./subject-orgs.ts";

/** Who is asked about, as a request names it. */
export interface NamedSubject {
  readonly kind: "member" | "group";
  readonly org: Reference;
  readonly reference: Reference;
}

/** @throws ServiceError PATH_INVALID */
export function readSubject(path: string, field: string): NamedSubject {
  const { pattern, references } = parseAnyPath([patterns.Member, patterns.Group], path, field);
  const [org, reference] = references as readonly [Reference, Reference];
  return { kind: pattern === patterns.Member ? "member" : "group", org, reference };
}

/** The subject in its org's snapshot, by its record, for who asks at once; undefined when it is not there. */
export function findNow(snapshot: OrgSnapshot, { kind, reference }: NamedSubject): SubjectReference | undefined {
  return reference.by === "any" ? undefined : snapshot.findSubject(kind, reference);
}

/**
 * The same by its id: its record there is good only until the snapshot is moved forward, which may be while something else is
 * waited for.
 */
export function findSubject(snapshot: OrgSnapshot, named: NamedSubject): SubjectReference | undefined {
  const found = findNow(snapshot, named);
  return found && subjectById(snapshot, found);
}

/** How old the answer may be; undefined for one that is exact. */
export function readStaleness(maxStaleness: Duration | undefined, revision: string): Staleness | undefined {
  if (maxStaleness === undefined) return undefined;
  return { maxMs: durationMs(maxStaleness), revision: BigInt(revision === "" ? 0 : revision) };
}

/**
 * Makes sure that an answer is as fresh as is asked for. What is answered is the newest that there is, so it is only a revision
 * that the org has not come to.
 *
 * @param least empty for any.
 * @throws ServiceError FIELD_INVALID
 */
export function requireReached({ revision }: Pick<OrgSnapshot, "revision">, least: string, field: string): void {
  if (least === "" || BigInt(least) <= BigInt(revision)) return;
  throw invalidField(field, `must be one that an answer about this Org gave: it is at ${revision}`, "revision");
}

/** More would let a condition take its time. */
const maxCharacters = 4096;
const maxValues = 100;

/**
 * What conditions may look at as `context`.
 *
 * @throws ServiceError FIELD_INVALID when it is large.
 */
export function readAttributes(context: JsonObject | undefined, field: string): JsonObject {
  if (context === undefined) return {};
  const text = JSON.stringify(context);
  const values = text.match(/[,:[]/g)?.length ?? 0;
  if (text.length > maxCharacters || values > maxValues * 2) {
    const description = `must be at most ${maxCharacters} characters of JSON with about ${maxValues} values`;
    throw invalidField(field, description, "context");
  }
  return context;
}
