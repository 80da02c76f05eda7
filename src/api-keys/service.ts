import type { ServiceImpl } from "@connectrpc/connect";
import { ApiKeySchema, ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { createApiKey } from "../identity/api-key.ts";
import { findMember } from "../members/store.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { mapItems } from "../resource/batch-item.ts";
import { readExpireTime } from "../resource/expire-time.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { apiKeyPath, loggedApiKey, toApiKey } from "./message.ts";
import { deleteApiKeys, findApiKey, insertApiKeys, readApiKeysPage, selectApiKeys, updateApiKey } from "./store.ts";

import { apiKeyFields } from "./fields.ts";

export function createApiKeysService(dependencies: ResourceDependencies): ServiceImpl<typeof ApiKeysService> {
  const { database, parents, grants, now } = dependencies;
  return createStandardService(ApiKeysService, dependencies, {
    type: "ApiKey",
    label: "API key",
    schema: ApiKeySchema,
    toMessage: toApiKey,
    pathOf: apiKeyPath,
    idOf: (row) => row.id,
    parentIdOf: (row) => row.member_id,
    logged: loggedApiKey,
    fields: apiKeyFields,
    uniqueKey: ["api_keys.org_id", "api_keys.member_id", "api_keys.id"],
    lookup: createPathLookup(database, "api_keys", ["orgs", "members", "api_keys"], selectApiKeys(database.reads)),
    resolveParent: parents.member,
    readPage: readApiKeysPage,
    find: findApiKey,

    async insertMany(transaction, memberPath, messages, atItem) {
      const member = await findMember(transaction.db, memberPath);
      if (member === undefined) throw notFound("member", formatReferences(patterns.Member, memberPath));
      if (member.delete_time !== null) throw deleted("member", formatReferences(patterns.Member, memberPath));
      await grants.requireMayActAs(transaction, member.id);
      const keys = await mapItems(messages, atItem, (fields) => {
        const expireTime = readExpireTime(fields.expireTime, now(), "api_key.expire_time");
        const { secret, prefix, hash } = createApiKey();
        return { fields, secret, key: { prefix, hash, expire_time: expireTime } };
      });
      const rows = await insertApiKeys(transaction, member, keys);
      return rows.map((row, index) => ({ ...row, secret: required(keys[index]).secret }));
    },

    update: updateApiKey,

    removeMany: deleteApiKeys,

    withoutSecrets: ({ secret: _secret, ...apiKey }) => apiKey,

    explain: (error, message) => explainNameTaken(error, "api_keys_name_key", "API key", message),
  });
}
