import { patterns } from "../../paths/patterns.ts";
import { createCallSlices } from "../../scheduling/call-slices.ts";

/** What the caller of a stream must hold on the org. */
export const listChanges = { permission: "iam.changes.list", listVisibility: "never" } as const;

export function pathOfOrg(orgId: string) {
  return { pattern: patterns.Org, references: [{ by: "id", value: orgId }] } as const;
}

/** Those of no call: what one stream would wait for, all would. */
export const withoutSlices = createCallSlices(() => undefined);
