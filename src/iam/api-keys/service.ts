import type { ServiceImpl } from "@connectrpc/connect";
import { ApiKeysService } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { required } from "../../errors/required.ts";
import { createApiKey } from "../../identity/api-key.ts";
import { memberDefinition } from "../members/definition.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { findMembers } from "../members/find-members.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { createConfirmApiKey } from "./confirm-api-key.ts";
import { apiKeyDefinition } from "./definition.ts";
import { endKeys } from "./end-keys.ts";
import { grantsUntilOf } from "./grants-until.ts";
import { createRequireAllowed, readKeyLimits } from "./key-rules.ts";
import { createRotateApiKey } from "./rotate-api-key.ts";
import type { ApiKeyRules } from "./served.ts";

const fields = { expireTime: "api_key.expire_time", scopes: "api_key.scopes" } as const;

type ApiKeyDependencies = ResourceDependencies & Pick<RoleDependencies, "knownPermissions">;

export function createApiKeysService(dependencies: ApiKeyDependencies): ServiceImpl<typeof ApiKeysService> {
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

function createApiKeyRules({ escalation, readers, registry, knownPermissions }: ApiKeyDependencies): ApiKeyRules {
  const members = readers.readerOf(memberDefinition, memberDefinition.places[0]).lookup;
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, messages, atItem) {
        const found = await findMembers(transaction, members, parents);
        const known = new Map<string, string | null>();
        const requireAllowed = await createRequireAllowed(transaction, fields);
        return mapItems(messages, atItem, async (message, index) => {
          const member = required(found[index])();
          let grantsUntil = known.get(member.id);
          if (grantsUntil === undefined) {
            await escalation.requireMayActAs(transaction, member.id, transaction.author.grantsUntil);
            grantsUntil = await grantsUntilOf(transaction, member, escalation);
            known.set(member.id, grantsUntil);
          }
          const names = { member_name: member.name, member_delete_time: member.delete_time };
          const expireTime = readExpireTime(message.expireTime, transaction.org, fields.expireTime);
          const limits = { ...readKeyLimits(message, knownPermissions), grants_until: grantsUntil };
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
      await endKeys(
        transaction,
        registry,
        rows.map(({ id }) => id),
      );
    },

    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "member", memberId: row.member_id }] : []),
  };
}
