import type { ServiceImpl } from "@connectrpc/connect";
import { type ApiKeySchema, ApiKeysService } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { deleted, invalidField, notFound } from "../../errors/service-error.ts";
import { createApiKey } from "../../identity/api-key.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import { memberDefinition } from "../members/definition.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfKeys } from "../sessions/store.ts";
import { createConfirmApiKey } from "./confirm-api-key.ts";
import { apiKeyDefinition } from "./definition.ts";
import { grantsUntilOf } from "./grants-until.ts";
import type { IssuedRow } from "./message.ts";

const expireTimeField = "api_key.expire_time";

type ApiKeyRules = ResourceRules<"api_keys", IssuedRow, typeof ApiKeySchema>;

export function createApiKeysService(dependencies: ResourceDependencies): ServiceImpl<typeof ApiKeysService> {
  const definition = apiKeyDefinition;
  const [place] = definition.places;
  const rules = createApiKeyRules(dependencies);
  const reader = dependencies.readers.readerOf(definition, place);
  const confirmApiKey = createConfirmApiKey({ definition, place, rules, reader, dependencies });
  const handlers = createStandardHandlers(ApiKeysService, dependencies, definition, rules);
  return completeService(ApiKeysService, { ...handlers, confirmApiKey });
}

function createApiKeyRules({ escalation, registry, now }: ResourceDependencies): ApiKeyRules {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, memberPath, messages, atItem) {
        const member = await findRow(transaction.db, memberDefinition, memberPath);
        if (member === undefined) throw notFound("member", formatReferences(patterns.Member, memberPath));
        if (member.delete_time !== null) throw deleted("member", formatReferences(patterns.Member, memberPath));
        await escalation.requireMayActAs(transaction, member.id, transaction.author.grantsUntil);
        const grantsUntil = await grantsUntilOf(transaction, member, escalation);
        const names = { member_name: member.name, member_delete_time: member.delete_time };
        return mapItems(messages, atItem, (message) => {
          const expireTime = readExpireTime(message.expireTime, now(), expireTimeField);
          requireNoLaterEnd(transaction, expireTime);
          const { secret, prefix, hash } = createApiKey();
          return {
            columns: { member_id: member.id, prefix, hash, expire_time: expireTime, grants_until: grantsUntil },
            joined: { ...joinedOrgColumns(transaction), ...names, secret },
          };
        });
      },
    },

    async change(transaction, row) {
      await escalation.requireMayActAs(transaction, row.member_id, row.grants_until);
      return {};
    },

    async beforeRemove(transaction, rows) {
      const ids = rows.map(({ id }) => id);
      await endTokens(transaction, "ApiKey", ids);
      await endSessions(transaction, registry, await readSessionsOfKeys(transaction.db, transaction.org.id, ids));
    },

    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "member", memberId: row.member_id }] : []),
  };
}

/**
 * Checks that a new key expires no later than the key of the call, so that a leaked key does not outlive itself.
 *
 * @throws ServiceError FIELD_INVALID
 */
function requireNoLaterEnd({ author }: OrgTransaction, expireTime: Date | null): void {
  const latest = author.credentialExpireTime;
  if (latest === null || (expireTime !== null && expireTime <= latest)) return;
  const description = `must be at most ${latest.toISOString()}, when the API key of this call expires`;
  throw invalidField(expireTimeField, description, "expire_time");
}
