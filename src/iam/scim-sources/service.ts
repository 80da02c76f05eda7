import type { ServiceImpl } from "@connectrpc/connect";
import { type ScimSourceSchema, ScimSourcesService } from "../../../gen/iam/v1alpha/scim_source_pb.ts";
import { requireUnlimited } from "../../access/escalation/require-within.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, deleted, invalidField, notFound } from "../../errors/service-error.ts";
import { formatPath, formatReferences, pathName } from "../../paths/format-path.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { identityProviderDefinition } from "../identity-providers/definition.ts";
import { requireNoneCreatesMembers } from "../identity-providers/one-way-in.ts";
import type { IdentityProviderRow } from "../identity-providers/store.ts";
import { memberDefinition } from "../members/definition.ts";
import type { MemberRow } from "../members/store.ts";
import { scimSourceDefinition } from "./definition.ts";
import { toScimSource, toSubjectColumn } from "./message.ts";
import { type ScimSourceRow, listKeyNames } from "./store.ts";

type Rules = ResourceRules<"scim_sources", ScimSourceRow, typeof ScimSourceSchema>;

/** An error names so many API keys. */
const maxNamed = 3;

const [memberField, providerField] = ["scim_source.member_path", "scim_source.identity_provider_path"] as const;

export function createScimSourcesService(dependencies: ResourceDependencies): ServiceImpl<typeof ScimSourcesService> {
  return createStandardService(ScimSourcesService, dependencies, scimSourceDefinition, createRules(dependencies));
}

function createRules({ escalation }: ResourceDependencies): Rules {
  /** @throws ServiceError GRANT_EXCEEDS_OWN */
  const requireOwner = async (transaction: OrgTransaction): Promise<void> => {
    if (!(await escalation.isOwner(transaction))) {
      const rule = "a SCIM source is created and changed by an owner of the org: it changes members whatever they hold";
      throw new ServiceError("GRANT_EXCEEDS_OWN", rule, { metadata: { role: "/roles/owner" } });
    }
    await requireUnlimited(transaction, "create or change a SCIM source");
  };

  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, _parents, sources, atItem) {
        await requireOwner(transaction);
        await requireNoneCreatesMembers(transaction);
        return mapItems(sources, atItem, async ({ memberPath, identityProviderPath, subject }) => {
          const member = await findApplication(transaction, memberPath);
          if (member !== undefined) await requireNoKeys(transaction, member);
          const provider = await findProvider(transaction, identityProviderPath);
          const ids = { member_id: member?.id ?? null, provider_id: provider?.id ?? null };
          return {
            columns: { ...ids, subject: toSubjectColumn(subject) },
            joined: {
              ...joinedOrgColumns(transaction),
              member_name: member?.name ?? null,
              member_delete_time: member?.delete_time ?? null,
              provider_name: provider?.name ?? null,
            },
          };
        });
      },
    },

    async change(transaction, row, { memberPath, identityProviderPath, subject }) {
      await requireOwner(transaction);
      const before = toScimSource(row);
      const isSame = memberPath === before.memberPath;
      const isProvider = identityProviderPath === before.identityProviderPath;
      const member = isSame ? undefined : await findApplication(transaction, memberPath);
      if (member !== undefined && member.id !== row.member_id) await requireNoKeys(transaction, member);
      return {
        member_id: isSame ? row.member_id : (member?.id ?? null),
        provider_id: isProvider
          ? row.provider_id
          : ((await findProvider(transaction, identityProviderPath))?.id ?? null),
        subject: toSubjectColumn(subject),
      };
    },

    // Who is managed keeps what it holds.
    revokes: "nothing",

    mapError(error, { memberPath }) {
      if (violatedConstraint(error) !== "scim_sources_member_key") return undefined;
      const message = `${memberPath} is the member of another SCIM source already`;
      return new ServiceError("RESOURCE_EXISTS", message, { cause: error });
    },
  };
}

/** Finds the member of a source; undefined for an empty path. */
async function findApplication(transaction: OrgTransaction, text: string): Promise<MemberRow | undefined> {
  if (text === "") return undefined;
  const { references } = parseAnyPath([patterns.Member], text, memberField);
  const [org, member] = references;
  requireSameOrg(transaction, required(org), memberField);
  const found = await findRow(transaction.db, memberDefinition, [orgReference(transaction), required(member)]);
  const path = formatReferences(patterns.Member, references);
  if (found === undefined) throw notFound("member", path);
  if (found.delete_time !== null) throw deleted("member", path);
  if (found.type === "APPLICATION") return found;
  throw invalidField(memberField, "must be a member of type APPLICATION: a directory is no person", "type");
}

/**
 * Checks that nobody has a key of the member of a source from before: it would be one of the directory. The lock of the org keeps others from
 * making one meanwhile, and from then on only who holds everything in the org makes one. The member of another source is refused for that.
 *
 * @throws ServiceError FIELD_INVALID that names the keys.
 */
async function requireNoKeys({ db, org }: OrgTransaction, { id, name }: MemberRow): Promise<void> {
  const keys = await listKeyNames(db, org, id, maxNamed);
  if (keys.length === 0) return;
  const member = formatPath(patterns.Member, pathName(org), name);
  const rule = `must be an application without API keys, which would be keys of the directory: delete those of ${member} first`;
  throw invalidField(memberField, `${rule} (${keys.join(", ")}), or create another application`, "no_keys");
}

/** Finds the identity provider of a source; undefined for an empty path. */
async function findProvider(transaction: OrgTransaction, text: string): Promise<IdentityProviderRow | undefined> {
  if (text === "") return undefined;
  const { references } = parseAnyPath([patterns.IdentityProvider], text, providerField);
  const [org, provider] = references;
  requireSameOrg(transaction, required(org), providerField);
  const path = [orgReference(transaction), required(provider)];
  const found = await findRow(transaction.db, identityProviderDefinition, path);
  if (found !== undefined) return found;
  throw notFound("identity provider", formatReferences(patterns.IdentityProvider, references));
}
