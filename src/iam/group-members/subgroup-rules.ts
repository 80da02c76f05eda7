import type { SubgroupSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { keepOwner } from "../../access/escalation/keep-owner.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { groupDefinition } from "../groups/definition.ts";
import { groupPath } from "../groups/message.ts";
import type { GroupRow } from "../groups/store.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { requireSamePath } from "./require-same-path.ts";
import { type SubgroupRow, groupsAround } from "./subgroup-store.ts";

const groupPathField = "subgroup.group_path";

type SubgroupRules = ResourceRules<"subgroups", SubgroupRow, typeof SubgroupSchema>;

export function createSubgroupRules({ readers, escalation }: ResourceDependencies): SubgroupRules {
  const groups = readers.readerOf(groupDefinition, groupDefinition.places[0]).lookup;
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parentPath, messages, atItem) {
        const { db, org } = transaction;
        const paths = await mapItems(messages, atItem, (message) => {
          const path = parseResourcePath(patterns.Group, message.groupPath, groupPathField);
          requireSameOrg(transaction, path[0], groupPathField);
          return path;
        });
        const group = await findRow(db, groupDefinition, parentPath);
        if (group === undefined) throw notFound("group", formatReferences(patterns.Group, parentPath));
        await escalation.requireMayJoin(transaction, group.id);
        const found = await groups.all(
          db,
          paths.map((path) => [orgReference(transaction), path[1]]),
        );
        const around = await groupsAround(db, org.id, group.id);
        return mapItems(messages, atItem, ({ description }, index) => {
          const child = found[index];
          if (child === undefined) throw notFound("group", formatReferences(patterns.Group, paths[index] ?? []));
          if (around.has(child.id)) throw cycle(group, child);
          return {
            columns: { group_id: group.id, subgroup_id: child.id, description },
            joined: {
              ...joinedOrgColumns(transaction),
              group_name: group.name,
              child_name: child.name,
              child_display_name: child.display_name,
            },
          };
        });
      },
    },

    async change(_transaction, _row, { description }) {
      return { description };
    },

    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "group", groupId: row.group_id, memberId: null }] : []),
    guard: (transaction, step, write) => (step === "remove" ? keepOwner(transaction, write) : write()),

    atPath([org, , group], patch, field) {
      const implied = formatReferences(patterns.Group, [required(org), required(group)]);
      requireSamePath(implied, patch.groupPath, `${field}.group_path`);
      return { ...patch, groupPath: implied };
    },

    mapError(error, { groupPath: path }) {
      if (violatedConstraint(error) !== "subgroups_pkey") return undefined;
      return new ServiceError("RESOURCE_EXISTS", `${path} is already nested in this group`, { cause: error });
    },
  };
}

function cycle(group: GroupRow, child: GroupRow): ServiceError {
  const message =
    group.id === child.id
      ? `the group ${groupPath(group)} cannot be nested in itself`
      : `${groupPath(child)} cannot be nested in ${groupPath(group)}, which is nested in it directly or indirectly`;
  return new ServiceError("SUBGROUP_CYCLE", message, {
    metadata: { group: groupPath(group), subgroup: groupPath(child) },
  });
}
