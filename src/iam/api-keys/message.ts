import type { ApiKey } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { ApiKeyRow } from "./store.ts";

/** A row. It has the secret only right after the creation. */
export type IssuedRow = ApiKeyRow & { readonly secret?: string };

export function toApiKey(row: IssuedRow): ApiKey {
  return {
    $typeName: "iam.v1alpha.ApiKey",
    path: apiKeyPath(row),
    ...namedFields(row),
    secret: row.secret,
    prefix: row.prefix,
    limited: row.grants_until !== null,
    scopes: row.scopes ?? [],
    allowedAddresses: row.allowed_addresses ?? [],
    rotatedFromPath: row.rotated_from_id === null ? "" : pathBeside(row, `@${row.rotated_from_id}`),
    expireTime: toTimestamp(row.expire_time),
    lastUseTime: toTimestamp(row.last_use_time),
  };
}

export function apiKeyPath(row: ApiKeyRow): string {
  return pathBeside(row, row.name);
}

function pathBeside(row: ApiKeyRow, name: string): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.ApiKey, orgPathName(row), pathName(member), name);
}
