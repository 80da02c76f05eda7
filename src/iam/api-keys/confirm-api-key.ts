import type { HandlerContext } from "@connectrpc/connect";
import { type ApiKey, ApiKeysService, type ConfirmApiKeyRequest } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { type IssuedRow, toApiKey } from "./message.ts";
import type { ServedApiKeys } from "./served.ts";

/** Creates the method after which an API key counts everything that is granted to its member. */
export function createConfirmApiKey(served: ServedApiKeys) {
  const { reader, dependencies } = served;
  return async (request: ConfirmApiKeyRequest, context: HandlerContext): Promise<ApiKey> => {
    const path = targetOf(context, patterns.ApiKey);
    const write = readWriteRequest(ApiKeysService.method.confirmApiKey, request, context);
    return runWrite(dependencies, write, (call) =>
      runOpen(call, { org: path[0] }, async (transaction) => {
        const found = await reader.find(transaction.db, path);
        const row = await requireFound(served, transaction, found, path, request.etag);
        const { member_id, expire_time: expireTime, allowed_addresses: allowedAddresses } = row;
        await dependencies.escalation.requireMayConfirm(transaction, member_id, { expireTime, allowedAddresses });
        return toApiKey(row.grants_until === null ? row : await countAll(served, transaction, row));
      }),
    );
  };
}

async function countAll(
  { definition }: ServedApiKeys,
  transaction: OrgTransaction,
  row: IssuedRow,
): Promise<IssuedRow> {
  const { db, org, revision, time } = transaction;
  const change = { fields: definition.toMessage(row), columns: { grants_until: null } };
  const after = { ...row, ...(await updateRow({ db, org, revision, time }, definition, row, change)) };
  recordChange(transaction, definition, row, after);
  return after;
}
