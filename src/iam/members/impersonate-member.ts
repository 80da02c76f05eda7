import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ImpersonateMemberRequest,
  type ImpersonateMemberResponse,
  ImpersonateMemberResponseSchema,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Narrowing } from "../../access/engine/decisions/narrowing.ts";
import type { EscalationGuard } from "../../access/escalation/guard-types.ts";
import { authorOf, callerOf, targetOf } from "../../access/evaluation/call.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, deleted, notFound } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { AccessTokens } from "../../identity/tokens/access-token.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { References } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { memberDefinition } from "./definition.ts";
import { memberPath } from "./message.ts";
import type { MemberRow } from "./store.ts";

export interface ImpersonationDependencies {
  readonly database: Database;
  readonly accessTokens: AccessTokens;
  /** Returns how the token is narrowed: as the request says, within the credential of the call. */
  readonly readNarrowing: (
    caller: Caller,
    request: Pick<ImpersonateMemberRequest, "scopes" | "projectPath">,
  ) => Promise<Narrowing>;
  readonly tokenLifeSeconds: number;
}

/** Creates the method that issues a token with which the caller acts as an application of its org. */
export function createImpersonateMember(
  { database, accessTokens, readNarrowing, tokenLifeSeconds }: ImpersonationDependencies,
  escalation: EscalationGuard,
) {
  return async (request: ImpersonateMemberRequest, context: HandlerContext): Promise<ImpersonateMemberResponse> => {
    const path = targetOf(context, patterns.Member);
    const caller = callerOf(context);
    requireOwnCredential(caller);
    const { scopes, projectPath, lifetime, validateOnly } = request;
    const narrowing = await readNarrowing(caller, { scopes, projectPath });
    const { orgId, memberId, credentialId: sessionId, clientId, allowedAddresses, token } = caller;
    const author = authorOf(context);
    const issued = await inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: orgId } }, author, async (transaction) => {
        const row = requireApplication(await findRow(db, memberDefinition, path), path, orgId);
        await escalation.requireMayImpersonate(transaction, row.id);
        const own = required(await findRow(db, memberDefinition, [path[0], { by: "id", value: memberId }]));
        const gen = token === undefined ? own.token_gen : token.gen;
        const grant = {
          memberId: row.id,
          orgId,
          sessionId,
          clientId,
          clientOrgId: token?.clientOrgId,
          gen: row.token_gen,
          credentialExpireTime: caller.credentialExpireTime?.getTime() ?? null,
          allowedAddresses,
          impersonator: { memberId, gen, tokenId: token?.id },
          exchangedFrom: token?.exchangedFrom ?? [],
          ...narrowing,
        };
        const lifeSeconds = lifetime === undefined ? tokenLifeSeconds : Number(lifetime.seconds);
        const now = transaction.org.lockTime.getTime();
        const { token: made, text } = await accessTokens.issue(grant, now, lifeSeconds, token?.expireTime);
        const after = { member_id: row.id, impersonator_id: memberId, expire_time: new Date(made.expireTime) };
        const tokenPath = `${memberPath(row)}/tokens/@${made.id}`;
        const change = { type: "Token", id: made.id, path: tokenPath, containerId: row.id } as const;
        if (!validateOnly) transaction.record({ ...change, before: null, after });
        return { text, expireTime: timestampFromMs(made.expireTime) };
      }),
    );
    const { text, expireTime } = issued;
    return create(ImpersonateMemberResponseSchema, { accessToken: validateOnly ? "" : text, expireTime });
  };
}

/** @throws ServiceError PERMISSION_DENIED for a call that impersonates a member, or with a limited API key. */
function requireOwnCredential({ impersonator, grantsUntil }: Caller): void {
  if (impersonator === undefined && grantsUntil === null) return;
  const message =
    impersonator === undefined
      ? "a limited API key cannot be used to impersonate a member: its member or an owner of the org must confirm the key first"
      : "a token with which a member is impersonated cannot be used to impersonate another one";
  throw new ServiceError("PERMISSION_DENIED", message);
}

function requireApplication(
  row: MemberRow | undefined,
  path: References<typeof patterns.Member>,
  orgId: string,
): MemberRow {
  if (row === undefined) throw notFound("member", formatReferences(patterns.Member, path));
  if (row.delete_time !== null) throw deleted("member", memberPath(row));
  const forbid = (why: string): ServiceError =>
    stateForbids(`the member ${memberPath(row)} cannot be impersonated: ${why}`, memberPath(row), row.state);
  if (row.org_id !== orgId) throw forbid("it is not in the org of the caller");
  if (row.type !== "APPLICATION") throw forbid("it is not an APPLICATION");
  if (row.state !== "ACTIVE") throw forbid(`it is ${row.state}`);
  return row;
}
