import type { ServiceImpl } from "@connectrpc/connect";
import { ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { createApiKey } from "../identity/api-key.ts";
import { memberDefinition } from "../members/definition.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { mapItems } from "../resource/batch/batch-item.ts";
import { readExpireTime } from "../resource/expire-time.ts";
import { orgColumns } from "../resource/named-fields.ts";
import { findRow } from "../resource/row-reader.ts";
import type { ResourceDependencies } from "../resource/rules.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { apiKeyDefinition } from "./definition.ts";

export function createApiKeysService(dependencies: ResourceDependencies): ServiceImpl<typeof ApiKeysService> {
  const { grants, now } = dependencies;
  return createStandardService(ApiKeysService, dependencies, apiKeyDefinition, {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, memberPath, messages, atItem) {
        const member = await findRow(transaction.db, memberDefinition, memberPath);
        if (member === undefined) throw notFound("member", formatReferences(patterns.Member, memberPath));
        if (member.delete_time !== null) throw deleted("member", formatReferences(patterns.Member, memberPath));
        await grants.requireMayActAs(transaction, member.id);
        const names = { member_name: member.name, member_delete_time: member.delete_time };
        return mapItems(messages, atItem, (message) => {
          const expireTime = readExpireTime(message.expireTime, now(), "api_key.expire_time");
          const { secret, prefix, hash } = createApiKey();
          return {
            columns: { member_id: member.id, prefix, hash, expire_time: expireTime },
            joined: { ...orgColumns(transaction), ...names, secret },
          };
        });
      },
    },
  });
}
