import type { ServiceImpl } from "@connectrpc/connect";
import { ApiKeySchema, ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { createApiKey } from "../identity/api-key.ts";
import { findMember } from "../members/store.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { readExpireTime } from "../resource/expire-time.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/standard-methods.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { apiKeyPath, loggedApiKey, toApiKey } from "./message.ts";
import { deleteApiKey, findApiKey, insertApiKey, readApiKeysPage, selectApiKeys } from "./store.ts";

import { apiKeyFields } from "./fields.ts";

export function createApiKeysService(dependencies: ResourceDependencies): ServiceImpl<typeof ApiKeysService> {
  const { database, parents, now } = dependencies;
  return createStandardService(ApiKeysService, dependencies, {
    type: "ApiKey",
    label: "API key",
    schema: ApiKeySchema,
    toMessage: toApiKey,
    pathOf: apiKeyPath,
    idOf: (row) => row.id,
    logged: loggedApiKey,
    fields: apiKeyFields,
    uniqueKey: ["api_keys.org_id", "api_keys.member_id", "api_keys.id"],
    lookup: createPathLookup(database, "api_keys", ["orgs", "members", "api_keys"], selectApiKeys(database.reads)),
    resolveParent: parents.member,
    readPage: readApiKeysPage,
    find: findApiKey,

    async insert(transaction, memberPath, message) {
      const member = await findMember(transaction.db, memberPath);
      if (member === undefined) throw notFound("member", formatReferences(patterns.Member, memberPath));
      if (member.delete_time !== null) throw deleted("member", formatReferences(patterns.Member, memberPath));
      const expireTime = readExpireTime(message.expireTime, now(), "api_key.expire_time");
      const { secret, prefix, hash } = createApiKey();
      const row = await insertApiKey(transaction, member, message, { prefix, hash, expire_time: expireTime });
      return { ...row, secret };
    },

    async remove(transaction, row) {
      await deleteApiKey(transaction, row);
      return null;
    },

    withoutSecrets: ({ secret: _secret, ...apiKey }) => apiKey,

    explain: (error, message) => explainNameTaken(error, "api_keys_name_key", "API key", message),
  });
}
