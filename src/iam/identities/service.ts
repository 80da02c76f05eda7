import type { ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import { IdentitiesService } from "../../../gen/iam/v1alpha/identity_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { identityProviderDefinition } from "../identity-providers/definition.ts";
import type { IdentityProviderRow } from "../identity-providers/store.ts";
import { memberDefinition } from "../members/definition.ts";
import { findMembers } from "../members/find-members.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfIdentities } from "../sessions/store.ts";
import { identityDefinition } from "./definition.ts";

const providerField = "identity.identity_provider_path";

export function createIdentitiesService(dependencies: ResourceDependencies): ServiceImpl<typeof IdentitiesService> {
  const { escalation, installation, readers, registry } = dependencies;
  const members = readers.readerOf(memberDefinition, memberDefinition.places[0]).lookup;

  /** Finds the provider of a new identity, and keeps it until the end of the transaction. */
  const findProvider = async (transaction: OrgTransaction, given: string): Promise<IdentityProviderRow> => {
    const { db, org } = transaction;
    const path = parseResourcePath(patterns.IdentityProvider, given, providerField);
    const [ofOrg] = path;
    const isOf = (id: string, name: string): boolean =>
      ofOrg !== undefined && ofOrg.by !== "any" && ofOrg.value === (ofOrg.by === "id" ? id : name);
    // What other orgs have is not looked up: the answer would tell.
    if (!isOf(org.id, org.name) && !isOf(installation.systemOrgId, "system")) throw ofAnotherOrg(org.name);
    const row = await findRow(db, identityProviderDefinition, path);
    if (row === undefined) throw notFound("identity provider", formatReferences(patterns.IdentityProvider, path));
    if (row.org_id !== org.id && row.org_id !== installation.systemOrgId) throw ofAnotherOrg(org.name);
    const keep = sql`select from identity_providers where org_id = ${row.org_id} and id = ${row.id} for key share`;
    if ((await keep.execute(db)).rows.length > 0) return row;
    throw notFound("identity provider", formatReferences(patterns.IdentityProvider, path));
  };

  return createStandardService(IdentitiesService, dependencies, identityDefinition, {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, messages, atItem) {
        const found = await findMembers(transaction, members, parents);
        const checked = new Set<string>();
        return mapItems(messages, atItem, async ({ identityProviderPath, subject }, index) => {
          const member = required(found[index])();
          if (!checked.has(member.id)) await escalation.requireMayLink(transaction, member.id);
          checked.add(member.id);
          const names = { member_name: member.name, member_delete_time: member.delete_time };
          const provider = await findProvider(transaction, identityProviderPath);
          const { name, issuer, org_name } = provider;
          const state: "ACTIVE" | "PENDING" = provider.org_id === transaction.org.id ? "ACTIVE" : "PENDING";
          const ofProvider = { state, provider_name: name, issuer, provider_org_name: org_name };
          const { actorOrgId, actorId } = transaction.author;
          const creator = { creator_org_id: actorOrgId, creator_id: actorId };
          return {
            columns: { member_id: member.id, provider_id: provider.id, subject, ...creator, accept_time: null },
            joined: { ...joinedOrgColumns(transaction), ...names, ...ofProvider },
          };
        });
      },
    },

    async beforeRemove(transaction, rows) {
      const ids = rows.map(({ id }) => id);
      await endSessions(transaction, registry, await readSessionsOfIdentities(transaction.db, transaction.org.id, ids));
    },

    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "member", memberId: row.member_id }] : []),

    mapError(error, { subject, identityProviderPath: path }) {
      if (violatedConstraint(error) !== "identities_subject_key") return undefined;
      const message = `a member of this org already has an identity with the subject ${JSON.stringify(subject)} of ${path}`;
      return new ServiceError("RESOURCE_EXISTS", message, { cause: error });
    },
  });
}

function ofAnotherOrg(name: string): ServiceError {
  const description = `must be an identity provider of the same org, /orgs/${name}, or of /orgs/system`;
  return invalidField(providerField, description, "same_org");
}
