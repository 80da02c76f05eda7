// Implements MeService.
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type CallerCredential,
  CallerCredentialSchema,
  CallerCredential_Kind as Kind,
  type GetMeResponse,
  GetMeResponseSchema,
  type MeService,
} from "../../../gen/iam/v1alpha/me_pb.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { memberState, memberType } from "../members/message.ts";
import { type CallerRow, readCaller } from "./store.ts";

export function createMeService({ database }: { readonly database: Database }): ServiceImpl<typeof MeService> {
  return {
    async getMe(_request, context) {
      const caller = callerOf(context);
      const row = await readCaller(database.reads, caller);
      if (row !== undefined) return toMe(row, caller);
      throw new ServiceError(
        "TOKEN_INVALID",
        "the bearer token is no longer valid: during the call, it was deleted or revoked",
      );
    },
  };
}

function toMe(row: CallerRow, caller: Caller): GetMeResponse {
  return create(GetMeResponseSchema, {
    member: {
      path: formatPath(patterns.Member, orgPathName(row), pathName(row)),
      id: row.id,
      name: row.name,
      displayName: row.display_name,
      type: memberType(row),
      state: memberState(row),
    },
    org: { path: formatPath(patterns.Org, orgPathName(row)), id: row.org_id, displayName: row.org_display_name },
    credential: toCredential(row, caller),
  });
}

function toCredential(row: CallerRow, caller: Caller): CallerCredential {
  const { credentialId, token, clientId, scopes, allowedAddresses, impersonator } = caller;
  const org = orgPathName(row);
  const holder = row.holder_name;
  const expireTime = expireTimeOf(row, caller);
  return create(CallerCredentialSchema, {
    kind: token === undefined ? Kind.API_KEY : Kind.ACCESS_TOKEN,
    ...(row.key_name === null
      ? { sessionPath: formatPath(patterns.Session, org, holder, `@${credentialId}`) }
      : { apiKeyPath: formatPath(patterns.ApiKey, org, holder, row.key_name) }),
    clientId,
    scopes: [...(scopes ?? [])],
    projectPath: projectPathOf(row, caller),
    allowedAddresses: [...(allowedAddresses ?? [])],
    ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
    impersonatorPath: impersonator === undefined ? "" : formatPath(patterns.Member, org, holder),
  });
}

/** Returns when the credential ends, in milliseconds. A rotation can end an API key before the tokens that it has. */
function expireTimeOf({ credential_expire_time: ofKey }: CallerRow, { token }: Caller): number | undefined {
  const earliest = Math.min(token?.expireTime ?? Infinity, ofKey?.getTime() ?? Infinity);
  return earliest === Infinity ? undefined : earliest;
}

/** Returns the project to which the caller is narrowed, by its id once it is deleted; empty for none. */
function projectPathOf(row: CallerRow, { projectId: id }: Caller): string {
  if (id === undefined) return "";
  const { project_name: name, project_delete_time: deleteTime } = row;
  const project = name === null ? `@${id}` : pathName({ id, name, delete_time: deleteTime });
  return formatPath(patterns.Project, orgPathName(row), project);
}
