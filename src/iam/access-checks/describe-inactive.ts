import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type EndedRows, findInactiveInSteps } from "../../access/engine/decisions/find-inactive.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import type { ResolvedTarget } from "../../access/evaluation/resolved-target.ts";
import { groupPathIn, rolePathIn } from "../../access/snapshots/snapshot-paths.ts";
import type { Database } from "../../database/database.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import { readEndedGrants } from "./read-ended-grants.ts";

const maxInactive = 10;

interface Asked {
  readonly permission: string;
  readonly resource: ResolvedTarget["resource"];
  /** The revision of the snapshot, if it is of the past. */
  readonly until: string | undefined;
  /** Returns the path of a role binding by its id; empty if there is none. */
  readonly pathOf: (id: string) => Promise<string>;
}

/** Returns the function that describes the role bindings that would give a subject a permission at another time. */
export function createDescribeInactive(database: Pick<Database, "reads">) {
  return async (
    snapshot: OrgSnapshot,
    { subject, now }: CheckRequest,
    { until, pathOf, ...asked }: Asked,
    slices: CallSlices,
  ) => {
    const memberId = subject.kind === "member" && "id" in subject ? subject.id : "";
    const readEnded = () => readEndedGrants(database, { orgId: snapshot.org.id, memberId, now, until });
    const ended = await readEnded();
    const found = await readInSteps(snapshot, () => inactiveSteps(snapshot, { ...asked, subject, now }, ended), slices);
    return Promise.all(
      found.map(async ({ id, ...grant }) => {
        // One that ends meanwhile is in neither.
        const known = ended.paths.get(id) ?? (await pathOf(id));
        return { ...grant, roleBindingPath: known === "" ? ((await readEnded()).paths.get(id) ?? "") : known };
      }),
    );
  };
}

function* inactiveSteps(snapshot: OrgSnapshot, query: Parameters<typeof findInactiveInSteps>[1], ended: EndedRows) {
  const found = yield* findInactiveInSteps(snapshot, query, ended, maxInactive);
  return found.map(({ groups, bindingId: id, role, startTime, expireTime }) => ({
    id,
    rolePath: rolePathIn(snapshot, role),
    groupPaths: groups.map((group) => groupPathIn(snapshot, group)),
    ...(startTime !== undefined && { startTime: timestampFromMs(startTime) }),
    ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
  }));
}
