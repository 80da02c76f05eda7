import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { type AccessPreview, AccessPreviewSchema } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Change } from "../changes/write-in-org.ts";
import type { Caller } from "../identity/caller.ts";
import { required } from "../resource/required.ts";
import { questionOf } from "./authorise.ts";
import { type Decider, type LocatedResource, locateById, onPlatform } from "./decider.ts";
import type { SnapshotChange } from "./engine/apply-change.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import { type AccessDifference, type Preview, previewChanges } from "./engine/preview-changes.ts";
import type { Resource } from "./engine/resource.ts";
import { type RoleBindingRow, readTime } from "./engine/rows.ts";
import type { PreviewAccess } from "./preview.ts";
import { memberPathIn } from "./snapshot-paths.ts";
import type { Snapshots } from "./snapshots.ts";
import { toSnapshotChange } from "./to-snapshot-change.ts";

/** Whoever holds it may see who holds what on a resource. */
const explainPermission = "iam.access.explain";

/** How many changes of access are told. */
const maxTold = 100;

/** How many pairs of a member and a resource are looked at; the org's lock is held for so long, which is some seconds. */
const maxPairs = 1_000_000;

interface PreviewOptions {
  readonly snapshots: Snapshots;
  readonly decider: Decider;
  /** All that methods ask for. */
  readonly permissions: readonly string[];
}

export function createPreviewAccess({ snapshots, decider, permissions }: PreviewOptions): PreviewAccess {
  const previewInOrg = async (
    caller: Caller,
    own: OrgSnapshot,
    snapshot: OrgSnapshot,
    changes: readonly SnapshotChange[],
  ): Promise<Preview> => {
    const mayExplain = (resource: Resource): boolean =>
      decider.allows(own, questionOf(caller), explainPermission, locatedIn(snapshot, resource));
    const now = Math.max(caller.time, ...changes.map(startTimeOf));
    const question = { changes, now, permissions, isShown: mayExplain, limit: maxTold, maxPairs };
    const steps = previewChanges(snapshot, question);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      // Other calls go on.
      await setImmediate();
    }
  };

  const pathOf = async (snapshot: OrgSnapshot, resource: Resource): Promise<string> => {
    if (resource.kind !== "customer") return locatedIn(snapshot, resource).path;
    const customer = { by: "id", value: resource.customerId } as const;
    return required(await decider.locate(snapshot, { kind: "customer", customer })).path;
  };

  const toAccessChange = async (
    snapshot: OrgSnapshot,
    { memberId, resource, gained, lost, isConditional }: AccessDifference,
  ) => ({
    memberPath: memberPathIn(snapshot, memberId),
    resourcePath: await pathOf(snapshot, resource),
    gainedPermissions: [...gained],
    lostPermissions: [...lost],
    conditional: isConditional,
  });

  return async (caller, written): Promise<AccessPreview> => {
    const own = await snapshots.at(caller.orgId, caller.orgRevision);
    const previews: { readonly snapshot: OrgSnapshot; readonly preview: Preview }[] = [];
    for (const [orgId, lines] of Map.groupBy(written, ({ org }) => org.id)) {
      const snapshot = await snapshots.at(orgId, required(lines[0]).org.revision);
      const changes = lines.map(({ change }) => toSnapshotChange(lineOf(change)));
      previews.push({ snapshot, preview: await previewInOrg(caller, own, snapshot, changes) });
    }
    const sum = (count: (preview: Preview) => number): number =>
      previews.reduce((total, { preview }) => total + count(preview), 0);
    const told = previews.flatMap(({ snapshot, preview }) =>
      preview.differences.map((difference) => ({ snapshot, difference })),
    );
    return create(AccessPreviewSchema, {
      gainingMemberCount: sum(({ gainingMembers }) => gainingMembers),
      losingMemberCount: sum(({ losingMembers }) => losingMembers),
      changeCount: sum(({ count }) => count),
      changes: await Promise.all(
        told.slice(0, maxTold).map(({ snapshot, difference }) => toAccessChange(snapshot, difference)),
      ),
      partial: previews.some(({ preview }) => !preview.isWhole),
    });
  };
}

function lineOf({ type, id, before, after }: Change): SnapshotChange {
  return { resource_type: type, resource_id: id, before, after };
}

/** When a role binding begins to hold; other changes do at once. */
function startTimeOf({ resource_type: type, after }: SnapshotChange): number {
  return type === "RoleBinding" && after !== null ? readTime((after as RoleBindingRow).start_time, 0) : 0;
}

/** What is suspended is so for those who look at it, too. */
function locatedIn(snapshot: OrgSnapshot, resource: Resource): LocatedResource {
  if (resource.kind === "platform" || resource.kind === "customer") return { ...onPlatform, resource };
  return locateById(snapshot, resource.kind === "project" ? resource.projectId : undefined);
}
