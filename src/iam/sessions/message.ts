import type { Session } from "../../../gen/iam/v1alpha/session_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { versionFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { SessionRow } from "./store.ts";

export function toSession(row: SessionRow): Session {
  return {
    $typeName: "iam.v1alpha.Session",
    path: sessionPath(row),
    id: row.id,
    clientId: row.client_id,
    clientDisplayName: row.client_display_name ?? "",
    userAgent: row.user_agent,
    scopes: row.scopes ?? ["*"],
    allowedAddresses: row.allowed_addresses ?? [],
    identityPath: row.identity_id === null ? "" : identityPath(row, row.identity_id),
    ...versionFields(row),
    refreshTime: toTimestamp(row.refresh_time),
    expireTime: toTimestamp(row.expire_time),
  };
}

function identityPath(row: SessionRow, identityId: string): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.Identity, orgPathName(row), pathName(member), `@${identityId}`);
}

export function sessionPath(row: SessionRow): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.Session, orgPathName(row), pathName(member), `@${row.id}`);
}
