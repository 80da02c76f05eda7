import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  type AccessPreview,
  AccessChangeSchema,
  AccessPreviewSchema,
} from "../../gen/iam/v1alpha/access_preview_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import { patterns } from "../paths/patterns.ts";
import { required } from "../resource/required.ts";
import type { SnapshotChange } from "./engine/apply-change.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import { type AccessDifference, type Preview, previewChanges } from "./engine/preview-changes.ts";
import type { Resource } from "./engine/resource.ts";
import type { RoleBindingRow } from "./engine/rows.ts";
import { allows } from "./evaluation/allows.ts";
import type { AccessEvaluator } from "./evaluation/evaluator.ts";
import { questionOf } from "./evaluation/question.ts";
import { resolveById } from "./evaluation/resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform } from "./evaluation/resolved-target.ts";
import { createLane } from "./lane.ts";
import type { PreviewAccess, Written } from "./preview.ts";
import { timesOf } from "./preview-times.ts";
import { memberPathIn } from "./snapshot-paths.ts";
import type { Snapshots } from "./snapshots.ts";
import { toSnapshotChange } from "./to-snapshot-change.ts";

/** Whoever holds both may see who may do what on a resource. */
const seeing = ["iam.access.explain", "iam.access.list"];

/** How many changes of access are told. */
const maxTold = 100;

/** How many previews are under way; each holds a connection for writes and the locks of its orgs. */
const maxPreviews = 2;

/** How long a preview may look, and for how long at a stretch. */
const budgetMs = 2000;
const stepMs = 5;

interface PreviewOptions {
  readonly snapshots: Snapshots;
  readonly evaluator: AccessEvaluator;
  /** All that methods ask for. */
  readonly permissions: readonly string[];
  readonly clock?: () => number;
}

/** Reading a whole org takes too long for a lock: the write is run again when it is held. */
class SnapshotMissing extends Error {
  override readonly name = "SnapshotMissing";
  readonly orgIds: readonly string[];

  constructor(orgIds: readonly string[]) {
    super("the orgs of the preview are not in memory");
    this.orgIds = orgIds;
  }
}

/** What of one org is previewed. */
interface Part {
  readonly snapshot: OrgSnapshot;
  readonly revision: string;
  readonly changes: readonly SnapshotChange[];
}

/** Where things are, for whoever looks at them. */
type Locate = (resource: Resource) => ResolvedTarget;

export function createPreviewAccess({
  snapshots,
  evaluator,
  permissions,
  clock = () => performance.now(),
}: PreviewOptions): PreviewAccess {
  const inLane = createLane(maxPreviews);

  const readPart = async (orgId: string, lines: readonly Written[]): Promise<Part> => {
    const { revision } = required(lines[0]).org;
    const snapshot = await snapshots.at(orgId, revision);
    const changes = lines.map(({ change: { type, id, before, after } }) =>
      toSnapshotChange({ resource_type: type, resource_id: id, before, after }),
    );
    return { snapshot, revision, changes };
  };

  /** Customers are looked for; the rest is in the snapshot, with what is suspended. */
  const createLocate = async ({ snapshot, changes }: Part): Promise<Locate> => {
    const ids = new Set([...snapshot.scopes.customerIds(), ...changes.flatMap(customerOf)]);
    const located = new Map<string, ResolvedTarget>();
    const locateCustomer = async (value: string): Promise<void> => {
      const found = await evaluator.resolve(snapshot, {
        pattern: patterns.Customer,
        references: [{ by: "id", value }],
      });
      if (found !== undefined) located.set(value, found);
    };
    await Promise.all([...ids].map(locateCustomer));
    return (resource) => {
      switch (resource.kind) {
        case "platform":
          return onPlatform;
        case "customer":
          return required(located.get(resource.customerId));
        case "org":
          return resolveById(snapshot);
        case "project":
          return resolveById(snapshot, resource.projectId);
      }
    };
  };

  const look = async (
    { snapshot, revision, changes }: Part,
    now: number,
    maySee: (resource: Resource) => boolean,
    signal: AbortSignal,
    endMs: number,
  ): Promise<Preview> => {
    let stepEndMs = 0;
    const { times, isWhole } = timesOf(changes, now);
    const isStepOver = () => clock() > stepEndMs;
    const question = { changes, revision, times, permissions, isShown: maySee, limit: maxTold, isStepOver };
    const steps = previewChanges(snapshot, question);
    for (;;) {
      signal.throwIfAborted();
      // The lock that keeps it there may be lost, as when the database restarts.
      if (snapshot.revision !== revision) throw new ServiceError("SERVICE_UNAVAILABLE", movedMessage);
      stepEndMs = clock() + stepMs;
      const step = steps.next(clock() < endMs);
      if (step.done === true) return { ...step.value, isWhole: step.value.isWhole && isWhole };
      // Other calls go on.
      await setImmediate();
    }
  };

  const tell = async (
    caller: Caller,
    signal: AbortSignal,
    written: readonly Written[],
    mayWait: boolean,
  ): Promise<AccessPreview> => {
    const own = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    const answer = create(AccessPreviewSchema);
    const told: (AccessDifference & { readonly memberPath: string; readonly resourcePath: string })[] = [];
    const endMs = clock() + budgetMs;
    const byOrg = Map.groupBy(written, ({ org }) => org.id);
    const missing = mayWait ? [] : [...byOrg.keys()].filter((orgId) => snapshots.held(orgId) === undefined);
    if (missing.length > 0) throw new SnapshotMissing(missing);
    for (const [orgId, lines] of byOrg) {
      const part = await readPart(orgId, lines);
      const locate = await createLocate(part);
      const maySee = (resource: Resource): boolean =>
        seeing.every((permission) => allows(own, question, permission, locate(resource)));
      const preview = await look(part, caller.time, maySee, signal, endMs);
      answer.gainingMemberCount += preview.gainingMembers;
      answer.losingMemberCount += preview.losingMembers;
      answer.changeCount += preview.count;
      answer.partial ||= !preview.isWhole;
      answer.trimmed ||= !maySee(resolveById(part.snapshot).resource);
      for (const difference of preview.differences) {
        const memberPath = memberPathIn(part.snapshot, difference.memberId);
        told.push({ ...difference, memberPath, resourcePath: locate(difference.resource).path() });
      }
    }
    const inOrder = told.toSorted(
      (one, other) => compare(one.memberId, other.memberId) || compare(one.resourcePath, other.resourcePath),
    );
    for (const { memberPath, resourcePath, gained, lost, isConditional } of inOrder.slice(0, maxTold)) {
      const lists = { gainedPermissions: [...gained], lostPermissions: [...lost] };
      answer.changes.push(
        create(AccessChangeSchema, { memberPath, resourcePath, ...lists, conditional: isConditional }),
      );
    }
    return answer;
  };

  return (caller, signal, write) =>
    inLane(async () => {
      signal.throwIfAborted();
      try {
        return await write((written) => tell(caller, signal, written, false));
      } catch (error) {
        if (!(error instanceof SnapshotMissing)) throw error;
        for (const orgId of error.orgIds) await snapshots.at(orgId, "0");
        return await write((written) => tell(caller, signal, written, true));
      }
    });
}

const movedMessage = "the org was changed while the change was looked at; try again";

/** The customer that a line grants something on. */
function customerOf({ resource_type: type, before, after }: SnapshotChange): string[] {
  const row = (after ?? before) as RoleBindingRow;
  return type === "RoleBinding" && row.scope_type === "customer" && row.scope_id !== null ? [row.scope_id] : [];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
