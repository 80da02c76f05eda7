// Questions about access as of an earlier moment. They are decided as those of now, on a snapshot of the org as it was.
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { Authorise } from "../../access/evaluation/authorise.ts";
import { projectIn } from "../../access/evaluation/resolve-in-snapshot.ts";
import type { TargetPath } from "../../access/evaluation/target-path.ts";
import { type PastSnapshots, inTimeOfPast } from "../../access/snapshots/past-snapshots.ts";
import type { GoneEntities } from "../../access/snapshots/gone-entities.ts";
import { type AskedMoment, findAskedMoment, readMoment } from "../../changes/past/asked-moment.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { RecordLogRead } from "../../standard-methods/past/open-past.ts";
import { type NamedSubject, findNow } from "./read-check-request.ts";
import type { Confirmed } from "./subject-orgs.ts";

/** The moment of a question. */
export type AsOf = AskedMoment;

/** The rule that errors name. */
const rule = "as_of";

interface AsOfFields {
  readonly asOfRevision: string;
  readonly asOfTime?: Timestamp | undefined;
  readonly revision: string;
  readonly maxStaleness?: Duration | undefined;
}

/**
 * Returns the moment that a request asks about; undefined for now.
 *
 * @param prefix goes before the names of fields in errors.
 * @throws ServiceError FIELD_INVALID
 */
export function readAsOf(
  { asOfRevision, asOfTime, revision, maxStaleness }: AsOfFields,
  prefix = "",
): AsOf | undefined {
  const [ofRevision, ofTime] = [`${prefix}as_of_revision`, `${prefix}as_of_time`];
  const asOf = readMoment({ field: ofRevision, value: asOfRevision }, { field: ofTime, value: asOfTime }, rule);
  if (asOf !== undefined && (revision !== "" || maxStaleness !== undefined)) {
    throw invalidField(
      asOf.field,
      "must be unset if revision or max_staleness is set: these are about answers of now",
      rule,
    );
  }
  return asOf;
}

/** Returns the same key for the same moment. */
export function asOfKey(asOf: AsOf | undefined): string {
  if (asOf === undefined) return "";
  return asOf.by === "revision" ? asOf.revision : String(asOf.microseconds);
}

/** Returns what binds the page tokens of a list to the moment that it is about. */
export function pastBinding(asOf: AsOf | undefined, { revision }: OrgSnapshot): readonly string[] {
  return asOf === undefined ? [] : ["as of", asOfKey(asOf), revision];
}

interface PastCall {
  readonly caller: Caller;
  readonly slices: CallSlices;
  readonly signal: AbortSignal;
  readonly context: HandlerContext;
}

/** An org as it was. */
export interface PastOrg {
  /**
   * Returns the path of a resource in the org, which is named by its id, since its name may have been another one.
   *
   * @throws ServiceError FIELD_INVALID when it is elsewhere, REVISION_EXPIRED when it is in a project that is gone.
   */
  readonly locate: (path: TargetPath, field: string) => TargetPath;
  /** @throws ServiceError REVISION_EXPIRED when the subject is gone. */
  readonly requireKept: (subject: NamedSubject) => void;
}

type ConfirmedPast = Confirmed & { readonly past: PastOrg };

/**
 * Returns an org as it was, to callers who may read its log and hold the permission of the method on it, both now.
 *
 * @param org as it is, which the caller may ask about.
 * @throws ServiceError PERMISSION_DENIED, FIELD_INVALID, REVISION_EXPIRED, RATE_LIMITED, DEADLINE_EXCEEDED.
 */
export type OpenPastOrg = (
  call: PastCall,
  confirmed: Confirmed,
  permission: string,
  asOf: AsOf,
) => Promise<ConfirmedPast>;

interface PastOrgDependencies {
  readonly database: Pick<Database, "reads">;
  readonly authoriserOf: Authorise["authoriserOf"];
  readonly pastSnapshots: PastSnapshots;
  readonly recordLogRead: RecordLogRead;
}

export function createOpenPastOrg(dependencies: PastOrgDependencies): OpenPastOrg {
  const { database, authoriserOf, pastSnapshots, recordLogRead } = dependencies;
  return async ({ caller, slices, signal, context }, { snapshot: current, now }, permission, asOf) => {
    const { id, customerId } = current.org;
    const path = { pattern: patterns.Org, references: [{ by: "id", value: id } as const] };
    const { decide } = await authoriserOf(caller, slices);
    for (const each of [permission, "iam.changes.list"]) {
      await decide({ permission: each, listVisibility: "never" }, path);
    }
    // Before the next await, since it may change.
    const { name } = current.org;
    const moment = await inTimeOfPast(() => findAskedMoment(database.reads, id, asOf, now, rule));
    await recordLogRead(context, { id, name });
    const call = { orgId: caller.orgId, signal: () => signal };
    const at = asOf.by === "time" ? asOf.microseconds / 1000 : Date.parse(moment.time);
    const { snapshot, gone } = await pastSnapshots.at(call, { id, customerId }, moment, at);
    return { snapshot, now: at, past: createPastOrg({ snapshot, gone, name }) };
  };
}

interface PastOrgState {
  readonly snapshot: OrgSnapshot;
  readonly gone: GoneEntities;
  /** The name of the org now. */
  readonly name: string;
}

function createPastOrg({ snapshot, gone, name }: PastOrgState): PastOrg {
  const { id } = snapshot.org;
  const isIt = (reference: Reference): boolean =>
    reference.by === "name" ? reference.value === name : reference.by === "id" && reference.value === id;

  const requireNotGone = (type: "Member" | "Project", reference: Reference): void => {
    const found = reference.by === "any" ? undefined : gone.find(type, reference);
    if (found === undefined) return;
    throw new ServiceError(
      "REVISION_EXPIRED",
      `the ${type} @${found} is purged, and the log of the Org no longer has all of what it was`,
    );
  };

  return {
    locate(path, field) {
      const { pattern, references } = path;
      const [top, ...below] = references;
      if (top === undefined && pattern.length === 0) return path;
      if (top === undefined || pattern[0] !== patterns.Org[0] || !isIt(top)) {
        throw invalidField(field, "must be in the Org whose past is asked about, or be empty", rule);
      }
      const project = projectIn(path);
      if (project !== undefined && (project.by === "any" || snapshot.projects.find(project) === 0)) {
        requireNotGone("Project", project);
      }
      return { ...path, references: [{ by: "id", value: id }, ...below] };
    },
    requireKept({ kind, reference }) {
      if (kind === "member" && findNow(snapshot, { kind, reference, org: { by: "id", value: id } }) === undefined) {
        requireNotGone("Member", reference);
      }
    },
  };
}
