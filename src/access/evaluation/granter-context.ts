import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Resource } from "../engine/resource.ts";
import { type LazyConditionContext, conditionContextOf } from "./condition-context.ts";
import { resolveById } from "./resolve-in-snapshot.ts";
import { onPlatform } from "./resolved-target.ts";

/**
 * What the conditions of a member are asked about who would bind a role on the resource. There are no attributes but those of
 * its own call, and outside of its org no path, so it holds nothing there that asks for one.
 */
export function granterContext(
  snapshot: OrgSnapshot,
  member: number,
  resource: Resource,
  now: number,
): LazyConditionContext {
  const isInside = resource.kind === "org" || resource.kind === "project";
  const question = { subject: { kind: "member", record: member }, attributes: {}, now } as const;
  const path = (): string =>
    isInside ? resolveById(snapshot, resource.kind === "project" ? resource.projectId : undefined).path() : "";
  return conditionContextOf(snapshot, question, { ...onPlatform, resource, path });
}
