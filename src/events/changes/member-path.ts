import { byId, formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ChangeRow } from "./store.ts";

/** In whose log a line is, and of which org its actor is. */
type Line = Pick<ChangeRow, "org_id" | "org_name" | "org_delete_time" | "actor_org_id">;

/** Returns the org or customer of a log as paths name it. A deleted one is named by its id, and one that no longer exists. */
export function orgName({
  org_id: id,
  org_name: name,
  org_delete_time: deleteTime,
}: Omit<Line, "actor_org_id">): string {
  return name === null ? byId(id) : pathName({ id, name, delete_time: deleteTime });
}

/** Returns the path of a member that a line names; empty for none. Members of other orgs, and those that no longer exist, have ids. */
export function memberPathOf(line: Line, id: string | null, name: string | null, deleteTime: Date | null): string {
  if (id === null) return "";
  const { org_id: orgId, actor_org_id: actorOrgId } = line;
  if (actorOrgId !== orgId || name === null) return formatPath(patterns.Member, byId(actorOrgId ?? orgId), byId(id));
  return formatPath(patterns.Member, orgName(line), pathName({ id, name, delete_time: deleteTime }));
}
