// A person who was invited accepts or declines. It has the secret of a link, which alone changes nothing: a program that follows links and sends
// forms may have it, too, or somebody to whom the mail was passed on. So the person also signs in at a provider, which vouches for
// the address. The member is activated and its identity created in one transaction, which uses the secret up.
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "../../../gen/iam/v1alpha/identity_pb.ts";
import type { Origin } from "../../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type SecretHandle, parseSecretHandle } from "../../identity/secret-handle.ts";
import { findRow, readByKeys } from "../../standard-methods/read/row-reader.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { foldEmail } from "../../validation/email-address.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { type InvitedGroup, leaveUnsponsored, readInvitedGroups } from "../group-members/invited-groups.ts";
import type { Sponsors } from "../group-members/sponsor.ts";
import { identityDefinition } from "../identities/definition.ts";
import { memberDefinition } from "../members/definition.ts";
import type { MemberRow } from "../members/store.ts";
import { signInAuthor } from "./browser-sessions.ts";
import {
  type InvitedAt,
  type OpenInvitation,
  readInvitation,
  readProvider,
  readRelatedIdentities,
  useInvitation,
} from "./open-invitations.ts";
import type { LinkedIdentity } from "./provider-store.ts";
import type { SignedInPerson } from "./provider-sign-in.ts";

/** A person who has signed in at a provider for an invitation. */
export type InvitedPerson = Pick<SignedInPerson, "subject" | "providerId" | "providerName" | "claims">;

/** Why a person cannot accept an invitation. */
export type Unfit =
  /** The provider names another address. */
  | "other address"
  /** The provider says that the address is not verified, or does not say that it is. */
  | "not verified"
  /** The provider names no address. */
  | "no address"
  /** The provider serves another org, or no longer exists. */
  | "other provider";

export interface Invitations {
  /** Returns the invitation of a secret; undefined for one that cannot be accepted. */
  find(secret: string): Promise<OpenInvitation | undefined>;
  /** Returns why a person cannot accept an invitation, as things are; undefined if it can. */
  findUnfit(invitation: OpenInvitation, person: InvitedPerson): Promise<Unfit | undefined>;
  /** Returns the groups that the member joins, as far as who has invited it into them may then add to them. */
  groupsOf(invitation: OpenInvitation): Promise<readonly InvitedGroup[]>;
  /**
   * Accepts an invitation.
   *
   * @returns the identity with which the person signs in from now on.
   * @throws ServiceError GRANT_INVALID
   */
  accept(secret: string, person: InvitedPerson, origin: Origin): Promise<LinkedIdentity>;
  /**
   * Declines an invitation: its member is deleted.
   *
   * @throws ServiceError GRANT_INVALID
   */
  decline(secret: string, person: InvitedPerson, origin: Origin): Promise<void>;
}

interface InvitationDependencies extends Pick<ResourceDependencies, "registry"> {
  readonly database: Database;
  readonly sponsors: Pick<Sponsors, "lookAt">;
  readonly systemOrgId: string;
  /** The number of days during which a deleted member can be undeleted. */
  readonly retentionDays: number;
}

export function createInvitations(dependencies: InvitationDependencies): Invitations {
  const { database, systemOrgId, retentionDays, sponsors } = dependencies;
  const decide = createDecide(database, systemOrgId);

  return {
    async find(secret) {
      const handle = parseSecretHandle(secret);
      return handle && readInvitation(database.reads, handle);
    },

    async findUnfit(invitation, person) {
      const orgIds = [invitation.org_id, systemOrgId];
      return judge(invitation, person, await readProvider(database.reads, person.providerId, orgIds, false));
    },

    groupsOf: ({ customer_id, org_id: id, member_id: memberId }) =>
      readInvitedGroups(database.reads, { customer_id, id }, memberId),

    accept: (secret, person, origin) =>
      decide(
        secret,
        person,
        { origin, method: "tenantry/accept-invitation" },
        async (transaction, invitation, row, provider) => {
          const { db, org, revision, time } = transaction;
          await leaveUnsponsored(transaction, dependencies, sponsors, row.id);
          const columns = { invitation_expire_time: null };
          const making = { transition: "activate", retentionDays, columns } as const;
          const { rows } = await makeTransitions({ db, org, revision, time }, memberDefinition, [row], making);
          recordChange(transaction, memberDefinition, row, required(rows[0]));
          const identityId = await link(transaction, invitation, person, provider);
          return { identityId, gen: row.token_gen, usable: true };
        },
      ),

    decline: (secret, person, origin) =>
      decide(
        secret,
        person,
        { origin, method: "tenantry/decline-invitation" },
        async (transaction, _invitation, row) => {
          const { db, org, revision, time } = transaction;
          const making = { transition: "delete", retentionDays, columns: { token_gen: randomUUID() } } as const;
          const { rows } = await makeTransitions({ db, org, revision, time }, memberDefinition, [row], making);
          recordChange(transaction, memberDefinition, row, required(rows[0]));
        },
      ),
  };
}

type Decide = <Result>(
  secret: string,
  person: InvitedPerson,
  how: { readonly origin: Origin; readonly method: string },
  run: (
    transaction: OrgTransaction,
    invitation: OpenInvitation,
    row: MemberRow,
    provider: InvitedAt,
  ) => Promise<Result>,
) => Promise<Result>;

/** Runs what a person decides, under the lock of the org, with the invitation, its member and the provider as they are then. */
function createDecide(database: Database, systemOrgId: string): Decide {
  return async (secret, person, { origin, method }, run) => {
    const handle = parseSecretHandle(secret);
    const found = handle && (await readInvitation(database.reads, handle));
    if (handle === undefined || found === undefined) throw notOpen();
    const orgId = found.org_id;
    const author = signInAuthor({ orgId, memberId: found.member_id }, method, origin);
    return inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: orgId } }, author, async (transaction) => {
        const { invitation, row } = await useUp(transaction, handle);
        const provider = await readProvider(db, person.providerId, [orgId, systemOrgId], true);
        const unfit = judge(invitation, person, provider);
        if (provider === undefined || unfit !== undefined) throw notTheirs(unfit ?? "other provider");
        return run(transaction, invitation, row, provider);
      }),
    );
  };
}

/** Uses a secret up, and returns its invitation with the member as they are now. @throws ServiceError GRANT_INVALID */
async function useUp(
  { db, org }: OrgTransaction,
  handle: SecretHandle,
): Promise<{ readonly invitation: OpenInvitation; readonly row: MemberRow }> {
  const invitation = await readInvitation(db, handle);
  if (invitation === undefined || !(await useInvitation(db, invitation, handle))) throw notOpen();
  const row = await findRow(db, memberDefinition, [
    { by: "id", value: org.id },
    { by: "id", value: invitation.member_id },
  ]);
  if (row === undefined) throw notOpen();
  return { invitation, row };
}

/**
 * Returns why a person cannot accept an invitation; undefined if it can. The address must be that of the invitation, and the provider must
 * vouch for it. A provider of the org that says nothing is enough where the link was sent to the address: who has it reads its mail, and the
 * org chose who signs in there.
 */
function judge(
  { org_id: orgId, email, is_mailed: isMailed }: OpenInvitation,
  { claims }: InvitedPerson,
  provider: InvitedAt | undefined,
): Unfit | undefined {
  if (provider === undefined) return "other provider";
  const isEnough = isMailed && provider.org_id === orgId;
  if (claims?.email === undefined) return isEnough ? undefined : "no address";
  if (foldEmail(claims.email) !== foldEmail(email)) return "other address";
  if (provider.email_trusted || claims.isVerified === true) return undefined;
  return claims.isVerified === undefined && isEnough ? undefined : "not verified";
}

/** Ties the member to the person: creates its identity, or accepts the one that an owner has created. Returns its id. */
async function link(
  transaction: OrgTransaction,
  invitation: OpenInvitation,
  { subject, providerId }: InvitedPerson,
  provider: InvitedAt,
): Promise<string> {
  const { db, org, revision, time, newId } = transaction;
  const related = await readRelatedIdentities(db, invitation, { providerId, subject });
  const same = related.find(({ isSame }) => isSame);
  const acceptTime = provider.org_id === org.id ? null : time;
  if (same === undefined) {
    const name = freeName(provider.name, new Set(related.map((each) => each.name)));
    const columns = {
      member_id: invitation.member_id,
      provider_id: providerId,
      subject,
      creator_org_id: org.id,
      creator_id: invitation.member_id,
      accept_time: acceptTime,
    };
    const fields = create(IdentitySchema, { name, displayName: provider.display_name });
    const { rows } = await insertRows({ db, org, revision, time, newId }, identityDefinition, [{ fields, columns }]);
    const [row] = await readByKeys(db, identityDefinition, rows);
    recordChange(transaction, identityDefinition, null, required(row));
    return required(row).id;
  }
  if (same.member_id !== invitation.member_id) throw isMember(org.name, same.member_name);
  const key = { org_id: org.id, member_id: same.member_id, id: same.id };
  const [row] = await readByKeys(db, identityDefinition, [key]);
  const before = required(row);
  const columns = { accept_time: acceptTime, decline_time: null };
  const change = { fields: identityDefinition.toMessage(before), columns };
  const updated = await updateRow({ db, org, revision, time }, identityDefinition, before, change);
  recordChange(transaction, identityDefinition, before, { ...before, ...updated, state: "ACTIVE" });
  return same.id;
}

/** The member may have an identity of the name already. It has few. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name.slice(0, 60)}-${number}`;
  return free;
}

function notOpen(): ServiceError {
  return new ServiceError("GRANT_INVALID", notOpenText);
}

export const notOpenText =
  "this invitation cannot be used: it was accepted or declined, has ended, was taken back, or a newer link was sent";

/** What a person is told who cannot accept. */
const unfitTexts: Readonly<Record<Unfit, string>> = {
  "other address": "the invitation is for another address than that of this account",
  "not verified": "the identity provider does not say that the address of this account is verified",
  "no address": "the identity provider does not tell the address of this account",
  "other provider": "the identity provider is not one of this org",
};

const notTheirs = (unfit: Unfit): ServiceError => new ServiceError("GRANT_INVALID", unfitTexts[unfit]);

function isMember(org: string, member: string): ServiceError {
  const message = `with this account you are the member /orgs/${org}/members/${member} already: sign in as it, or accept with another account`;
  return new ServiceError("GRANT_INVALID", message);
}
