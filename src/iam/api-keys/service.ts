import type { ServiceImpl } from "@connectrpc/connect";
import { ApiKeysService } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { deleted, notFound } from "../../errors/service-error.ts";
import { createApiKey } from "../../identity/api-key.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import { memberDefinition } from "../members/definition.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfKeys } from "../sessions/store.ts";
import { createConfirmApiKey } from "./confirm-api-key.ts";
import { apiKeyDefinition } from "./definition.ts";
import { grantsUntilOf } from "./grants-until.ts";
import { createRequireAllowed, readKeyLimits } from "./key-rules.ts";
import { createRotateApiKey } from "./rotate-api-key.ts";
import type { ApiKeyRules } from "./served.ts";

const fields = { expireTime: "api_key.expire_time", scopes: "api_key.scopes" } as const;

export function createApiKeysService(dependencies: ResourceDependencies): ServiceImpl<typeof ApiKeysService> {
  const definition = apiKeyDefinition;
  const [place] = definition.places;
  const rules = createApiKeyRules(dependencies);
  const reader = dependencies.readers.readerOf(definition, place);
  const served = { definition, place, rules, reader, dependencies };
  const confirmApiKey = createConfirmApiKey(served);
  const rotateApiKey = createRotateApiKey(served);
  const handlers = createStandardHandlers(ApiKeysService, dependencies, definition, rules);
  return completeService(ApiKeysService, { ...handlers, confirmApiKey, rotateApiKey });
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
        const requireAllowed = await createRequireAllowed(transaction, fields);
        return mapItems(messages, atItem, (message) => {
          const expireTime = readExpireTime(message.expireTime, now(), fields.expireTime);
          const limits = { ...readKeyLimits(message), grants_until: grantsUntil };
          requireAllowed({ expireTime, ...limits });
          const { secret, prefix, hash } = createApiKey();
          return {
            columns: { member_id: member.id, prefix, hash, expire_time: expireTime, ...limits, rotated_from_id: null },
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
