import type { Client } from "../../../gen/iam/v1alpha/client_pb.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { ClientRow } from "./store.ts";

/** A row. It has the secret only right after the creation, or after a rotation. */
export type IssuedClientRow = ClientRow & { readonly secret?: string };

export function toClient(row: IssuedClientRow): Client {
  const previousEnd = row.previous_secret_expire_time;
  return {
    $typeName: "iam.v1alpha.Client",
    path: clientPath(row),
    ...namedFields(row),
    redirectUris: row.redirect_uris,
    confidential: row.confidential,
    scopes: row.scopes ?? [],
    secret: row.secret,
    previousSecretExpireTime: toTimestamp(previousEnd),
  };
}

export function clientPath(row: ClientRow): string {
  return formatPath(patterns.Client, orgPathName(row), row.name);
}
