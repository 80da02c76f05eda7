// Planned changes as responses have them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type PlannedChangeSchema, PlannedChange_Action as Action } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { resourcePathOf } from "./limits.ts";
import type { PlannedChange } from "./planned-change.ts";

/** How many resources that go with others a response names. */
export const maxImplied = 1_000;

const actions: Readonly<Record<PlannedChange["action"], Action>> = {
  create: Action.CREATE,
  update: Action.UPDATE,
  replace: Action.REPLACE,
  delete: Action.DELETE,
  undelete: Action.UNDELETE,
  activate: Action.ACTIVATE,
  suspend: Action.SUSPEND,
};

/** Returns the path of what a plan names: of a limit, that of its quota. Its path below the org is empty for the org itself. */
export const pathInOrg = (org: string, path: string): string =>
  path === "" ? `/orgs/${org}` : `/orgs/${org}/${resourcePathOf(path)}`;

/** @param org the name of the org. */
export function describeChanges(
  org: string,
  changes: readonly PlannedChange[],
): MessageInitShape<typeof PlannedChangeSchema>[] {
  return changes.map(({ action, path, fields, values = [] }) => ({
    action: actions[action],
    resourcePath: pathInOrg(org, path),
    changedFields: [...fields],
    changedValues: [...values],
  }));
}
