import type { ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import { isInOrgOf } from "../../database/org-key.ts";
import { IdentityProvidersService } from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { findIssuerProblem } from "../../identity/oidc/issuer.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { createSponsors } from "../group-members/sponsor.ts";
import { identityDefinition } from "../identities/definition.ts";
import { selectIdentities } from "../identities/store.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfIdentities } from "../sessions/store.ts";
import { identityProviderDefinition } from "./definition.ts";
import { changeFirstSignIn, readFirstSignIn, requireCondition } from "./first-sign-in.ts";
import { identityProviderPath, toAuthMethodColumn } from "./message.ts";
import type { IdentityProviderRow } from "./store.ts";
import { requireStableSubject } from "./subject-claims.ts";

export interface IdentityProviderDependencies {
  readonly sealer: Pick<Sealer, "seal">;
  /** The prefixes of addresses, besides public ones, at which issuers may be. */
  readonly identityProviderNetworks: readonly string[];
}

type Dependencies = ResourceDependencies & IdentityProviderDependencies;

export function createIdentityProvidersService(
  dependencies: Dependencies,
): ServiceImpl<typeof IdentityProvidersService> {
  const { sealer, identityProviderNetworks } = dependencies;
  const ofFirstSignIn = { ...dependencies, sponsors: createSponsors(dependencies) };

  /** Returns the columns of a secret; none for an empty one. */
  const sealed = (id: string, clientSecret: string) =>
    clientSecret === "" ? {} : { sealed_secret: sealer.seal("client secret", id, Buffer.from(clientSecret)) };

  return createStandardService(IdentityProvidersService, dependencies, identityProviderDefinition, {
    scope: { kind: "parent" },
    // An expression is a program.
    startCheck: () => requireCondition,
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, providers, atItem, checked) =>
        mapItems(providers, atItem, async (provider, index) => {
          const { issuer, clientId, clientSecret, scopes } = provider;
          const problem = findIssuerProblem(issuer, identityProviderNetworks);
          if (problem !== undefined) throw invalidField("identity_provider.issuer", problem, "issuer");
          requireStableSubject(provider);
          required(checked[index])();
          const { columns: ofNewcomers, groups } = await readFirstSignIn(transaction, ofFirstSignIn, provider);
          const id = transaction.newId();
          const own = { id, issuer, client_id: clientId, subject_claim: provider.subjectClaim };
          const columns = {
            ...own,
            token_endpoint_auth_method: toAuthMethodColumn(provider.tokenEndpointAuthMethod),
            scopes,
            email_trusted: provider.emailTrusted,
            ...ofNewcomers,
            sealed_secret: null,
            ...sealed(id, clientSecret),
          };
          const first_sign_in_group_names = groups.map(({ name }) => name);
          return { columns, joined: { ...joinedOrgColumns(transaction), first_sign_in_group_names } };
        }),
    },

    async change(transaction, row, provider) {
      const { clientSecret, scopes, emailTrusted, tokenEndpointAuthMethod: method } = provider;
      const token_endpoint_auth_method = toAuthMethodColumn(method);
      const ofNewcomers = await changeFirstSignIn(transaction, ofFirstSignIn, row, provider);
      const others = { scopes, email_trusted: emailTrusted, token_endpoint_auth_method };
      return { ...others, ...ofNewcomers, ...sealed(row.id, clientSecret) };
    },

    beforeRemove: (transaction, rows) => removeIdentities(transaction, rows, dependencies),
    // What its identities give is checked in `beforeRemove`.
    revokes: "nothing",
  });
}

/** Removes the identities of providers, and ends the sessions that were started with them. */
async function removeIdentities(
  transaction: OrgTransaction,
  rows: readonly IdentityProviderRow[],
  { escalation, registry }: Dependencies,
): Promise<void> {
  const { db, org } = transaction;
  const ids = rows.map(({ id }) => id);
  // An identity of another org, which is being created, keeps the row until it is committed.
  await sql`
    select from identity_providers
    where ${isInOrgOf("identity_providers", org)} and id = any(${ids}::uuid[]) for update`.execute(db);
  const identities = await selectIdentities(db)
    .where(sql<boolean>`identities.provider_id = any(${ids}::uuid[])`)
    .execute();
  const elsewhere = identities.find((identity) => identity.org_id !== org.id);
  const used = rows.find(({ id }) => id === elsewhere?.provider_id);
  if (used !== undefined) throw usedElsewhere(used);
  const memberIds = [...new Set(identities.map((identity) => identity.member_id))];
  const revocations = memberIds.map((memberId) => ({ kind: "member", memberId }) as const);
  await escalation.requireMayRevoke(transaction, revocations);
  const identityIds = identities.map(({ id }) => id);
  await endSessions(transaction, registry, await readSessionsOfIdentities(db, org.id, identityIds));
  await removeRows(db, registry, identityDefinition, org, identities);
  for (const identity of identities) recordChange(transaction, identityDefinition, identity, null);
}

function usedElsewhere(row: IdentityProviderRow): ServiceError {
  const path = identityProviderPath(row);
  const message = `the identity provider ${path} is used by identities of members of other orgs; delete these first`;
  return new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path } });
}
