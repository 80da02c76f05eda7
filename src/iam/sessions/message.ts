import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Session, SessionSchema } from "../../../gen/iam/v1alpha/session_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { versionFields } from "../../standard-methods/named-fields.ts";
import type { SessionRow } from "./store.ts";

export function toSession(row: SessionRow): Session {
  return create(SessionSchema, {
    path: sessionPath(row),
    id: row.id,
    clientId: row.client_id,
    clientDisplayName: row.client_display_name ?? "",
    userAgent: row.user_agent,
    scopes: row.scopes ?? ["*"],
    allowedAddresses: row.allowed_addresses ?? [],
    identityPath: row.identity_id === null ? "" : identityPath(row, row.identity_id),
    ...versionFields(row),
    ...(row.refresh_time !== null && { refreshTime: timestampFromDate(row.refresh_time) }),
    expireTime: timestampFromDate(row.expire_time),
  });
}

function identityPath(row: SessionRow, identityId: string): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.Identity, orgPathName(row), pathName(member), `@${identityId}`);
}

export function sessionPath(row: SessionRow): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.Session, orgPathName(row), pathName(member), `@${row.id}`);
}
