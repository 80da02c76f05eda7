import type { ServiceImpl } from "@connectrpc/connect";
import { type ClientSchema, ClientsService } from "../../../gen/iam/v1alpha/client_pb.ts";
import { requireMayWidenClients } from "../../access/escalation/require-within.ts";
import { createApiKey } from "../../identity/api-key.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { expireSessionsOfClients } from "../sessions/store.ts";
import { readClientTerms, widens } from "./client-rules.ts";
import { clientDefinition } from "./definition.ts";
import type { IssuedClientRow } from "./message.ts";
import { createRotateClient } from "./rotate-client.ts";

type ClientDependencies = ResourceDependencies & Pick<RoleDependencies, "knownPermissions">;

export function createClientsService(dependencies: ClientDependencies): ServiceImpl<typeof ClientsService> {
  const definition = clientDefinition;
  const [place] = definition.places;
  const rules = createClientRules(dependencies);
  const reader = dependencies.readers.readerOf(definition, place);
  const rotateClient = createRotateClient({ definition, place, rules, reader, dependencies });
  const handlers = createStandardHandlers(ClientsService, dependencies, definition, rules);
  return completeService(ClientsService, { ...handlers, rotateClient });
}

function createClientRules({
  knownPermissions,
}: ClientDependencies): ResourceRules<"clients", IssuedClientRow, typeof ClientSchema> {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, clients, atItem) =>
        mapItems(clients, atItem, (client) => {
          requireMayWidenClients(transaction);
          const { confidential } = client;
          const issued = confidential ? createApiKey() : undefined;
          const secrets = { secret_hash: issued?.hash ?? null, previous_secret_hash: null };
          const joined = joinedOrgColumns(transaction);
          return {
            columns: {
              ...readClientTerms(client, knownPermissions),
              confidential,
              ...secrets,
              previous_secret_expire_time: null,
            },
            joined: issued === undefined ? joined : { ...joined, secret: issued.secret },
          };
        }),
    },
    async change(transaction, row, client) {
      const terms = readClientTerms(client, [...knownPermissions, ...(row.scopes ?? [])]);
      if (widens(row, terms)) requireMayWidenClients(transaction);
      return terms;
    },
    async beforeRemove(transaction, rows) {
      const ids = rows.map(({ id }) => id);
      await endTokens(transaction, "Client", ids);
      await expireSessionsOfClients(transaction, ids);
    },
    // People allow a client to act for them, and can allow another one.
    revokes: "nothing",
  };
}
