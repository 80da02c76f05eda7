import type { HandlerContext } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import {
  type ApiKey,
  ApiKeySchema,
  ApiKeysService,
  type RotateApiKeyRequest,
} from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { callerOf, targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { deleted } from "../../errors/service-error.ts";
import { createApiKey } from "../../identity/api-key.ts";
import type { Caller } from "../../identity/caller.ts";
import { endTokensLater } from "../../identity/tokens/end-tokens.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { endsBefore, readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { type Plan, writeRows } from "../../standard-methods/write/write-rows.ts";
import { memberDefinition } from "../members/definition.ts";
import { endSessionsLater } from "../sessions/end-sessions.ts";
import { readSessionsOfKeys } from "../sessions/store.ts";
import { apiKeyDefinition } from "./definition.ts";
import { grantsUntilOf } from "./grants-until.ts";
import { createRequireAllowed } from "./key-rules.ts";
import { type IssuedRow, toApiKey } from "./message.ts";
import type { ServedApiKeys } from "./served.ts";

const dayMs = 86_400_000;

/** Creates the method that replaces an API key by another one, with an overlap in which both are accepted. */
export function createRotateApiKey(served: ServedApiKeys) {
  const { reader, dependencies } = served;
  return async (request: RotateApiKeyRequest, context: HandlerContext): Promise<ApiKey> => {
    const path = targetOf(context, patterns.ApiKey);
    const write = readWriteRequest(ApiKeysService.method.rotateApiKey, request, context);
    const caller = callerOf(context);
    return runWrite(
      dependencies,
      write,
      (call) =>
        writeRows(served, call, {
          locks: { org: path[0] },
          async prepare(transaction) {
            const found = await reader.find(transaction.db, path);
            const row = await requireFound(served, transaction, found, path, request.etag);
            if (row.member_delete_time !== null) {
              throw deleted("member", formatReferences(patterns.Member, targetParent(row)));
            }
            // A key that replaces itself gets nothing that it does not have.
            const grantsUntil = isKeyOf(caller, row) ? row.grants_until : await limitOf(served, transaction, row);
            const limited = { ...row, grants_until: grantsUntil };
            return planSuccessor(served, transaction, limited, request, async (successor) => {
              const overlapMs = request.overlap === undefined ? dayMs : Number(request.overlap.seconds) * 1_000;
              await endLater(served, transaction, row, new Date(transaction.org.lockTime.getTime() + overlapMs));
              return toApiKey(successor);
            });
          },
        }),
      apiKeyDefinition.withoutSecrets,
    );
  };
}

const isKeyOf = ({ token, credentialId }: Caller, { id }: IssuedRow): boolean =>
  token === undefined && credentialId === id;

/**
 * Returns the limit of the successor that the author gives to a key: that of the key, or else that of a new key.
 *
 * @throws ServiceError GRANT_EXCEEDS_OWN, LIMIT_EXCEEDED
 */
async function limitOf(
  { dependencies: { escalation } }: ServedApiKeys,
  transaction: OrgTransaction,
  row: IssuedRow,
): Promise<string | null> {
  await escalation.requireMayActAs(transaction, row.member_id, row.grants_until);
  if (row.grants_until !== null) return row.grants_until;
  const member = required(await findRow(transaction.db, memberDefinition, targetParent(row)));
  return grantsUntilOf(transaction, member, escalation);
}

async function planSuccessor(
  served: ServedApiKeys,
  transaction: OrgTransaction,
  row: IssuedRow,
  request: RotateApiKeyRequest,
  answer: (successor: IssuedRow) => Promise<ApiKey>,
): Promise<Plan<IssuedRow, ApiKey>> {
  const { member_id, grants_until, scopes, allowed_addresses } = row;
  const expireTime = readExpireTime(request.expireTime, transaction.org, "expire_time");
  const requireAllowed = await createRequireAllowed(transaction, { expireTime: "expire_time", scopes: "path" });
  requireAllowed({ expireTime, scopes, allowed_addresses });
  const { secret, prefix, hash } = createApiKey();
  const limits = { grants_until, scopes, allowed_addresses };
  const columns = { member_id, prefix, hash, expire_time: expireTime, ...limits, rotated_from_id: row.id };
  const { org_name, org_delete_time, member_name, member_delete_time } = row;
  const joined = { org_name, org_delete_time, member_name, member_delete_time, secret };
  const creation = { kind: "in org", prepare: () => Promise.resolve([{ columns, joined }]) } as const;
  const { name, display_name: displayName, description, labels } = row;
  // A key without another one is shown as its name.
  const named = displayName === name ? {} : { displayName };
  const message = create(ApiKeySchema, { name: request.name, ...named, description, labels });
  const successor = { ...served, rules: { ...served.rules, creation } };
  const resources = { parents: [targetParent(row)], messages: [message], checked: [] };
  return planCreation(successor, transaction, resources, alone, ([created]: readonly IssuedRow[]) =>
    answer(required(created)),
  );
}

const targetParent = ({ org_id, member_id }: IssuedRow) =>
  [
    { by: "id", value: org_id },
    { by: "id", value: member_id },
  ] as const;

/** Lets an API key, its sessions and its tokens end at a time, unless they end before. */
async function endLater(
  { definition }: ServedApiKeys,
  transaction: OrgTransaction,
  row: IssuedRow,
  time: Date,
): Promise<void> {
  if (!endsBefore(time, row.expire_time)) return;
  const { db, org, revision } = transaction;
  const change = { fields: definition.toMessage(row), columns: { expire_time: time } };
  const target = { db, org, revision, time: transaction.time };
  recordChange(transaction, definition, row, { ...row, ...(await updateRow(target, definition, row, change)) });
  await endTokensLater(transaction, [row.id], time);
  await endSessionsLater(transaction, await readSessionsOfKeys(db, org.id, [row.id]), time);
}
