import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, ClientSchema } from "../../../gen/iam/v1alpha/client_pb.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { ClientRow } from "./store.ts";

/** A row. It has the secret only right after the creation, or after a rotation. */
export type IssuedClientRow = ClientRow & { readonly secret?: string };

export function toClient(row: IssuedClientRow): Client {
  const previousEnd = row.previous_secret_expire_time;
  return create(ClientSchema, {
    path: clientPath(row),
    ...namedFields(row),
    redirectUris: row.redirect_uris,
    confidential: row.confidential,
    scopes: row.scopes ?? [],
    ...(row.secret !== undefined && { secret: row.secret }),
    ...(previousEnd !== null && { previousSecretExpireTime: timestampFromDate(previousEnd) }),
  });
}

export function clientPath(row: ClientRow): string {
  return formatPath(patterns.Client, orgPathName(row), row.name);
}
