import { SubgroupSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { keepOwner } from "../access/keep-owner.ts";
import { violatedConstraint } from "../database/failure.ts";
import { ServiceError, notFound } from "../errors/service-error.ts";
import { groupPath } from "../groups/message.ts";
import { type GroupRow, findGroup, selectGroups } from "../groups/store.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/resource-path.ts";
import { mapItems } from "../resource/batch-item.ts";
import { orgReference, requireSameOrg } from "../resource/org-reference.ts";
import { requireSamePath } from "./require-same-path.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import { type ResourceDependencies, defineResource } from "../resource/resource.ts";
import { subgroupPath, toSubgroup } from "./message.ts";
import { subgroupFields } from "./fields.ts";
import {
  type SubgroupRow,
  deleteSubgroups,
  findSubgroup,
  groupsAround,
  insertSubgroups,
  readSubgroupsPage,
  selectSubgroups,
  updateSubgroup,
} from "./subgroup-store.ts";

const groupPathField = "subgroup.group_path";

/** Which group is nested in which. */
export function createSubgroups(dependencies: ResourceDependencies) {
  const { database, parents, grants } = dependencies;
  const lookup = createPathLookup(
    database,
    "subgroups",
    ["orgs", "groups", "children"],
    selectSubgroups(database.reads),
  );
  const groups = createPathLookup(database, "new_subgroups", ["orgs", "groups"], selectGroups(database.reads));
  return defineResource({
    type: "Subgroup",
    label: "subgroup",
    schema: SubgroupSchema,
    toMessage: toSubgroup,
    pathOf: subgroupPath,
    idOf: (row: SubgroupRow) => row.subgroup_id,
    parentIdOf: (row) => row.group_id,
    logged: ({ org_id, group_id, subgroup_id, description, changed_revision, create_time, update_time }) => ({
      org_id,
      group_id,
      subgroup_id,
      description,
      changed_revision,
      create_time,
      update_time,
    }),
    fields: subgroupFields,
    uniqueKey: ["subgroups.org_id", "subgroups.group_id", "subgroups.subgroup_id"],
    lookup,
    resolveParent: parents.group,
    readPage: readSubgroupsPage,
    find: findSubgroup,

    async insertMany(transaction, parentPath, messages, atItem) {
      const { db, org } = transaction;
      const paths = await mapItems(messages, atItem, (message) => {
        const path = parseResourcePath(patterns.Group, message.groupPath, groupPathField);
        requireSameOrg(transaction, path[0], groupPathField);
        return path;
      });
      const group = await findGroup(db, parentPath);
      if (group === undefined) throw notFound("group", formatReferences(patterns.Group, parentPath));
      await grants.requireMayJoin(transaction, group.id);
      const found = await groups.all(
        db,
        paths.map((path) => [orgReference(transaction), path[1]]),
      );
      const around = await groupsAround(db, org.id, group.id);
      const rows = await mapItems(messages, atItem, ({ description }, index) => {
        const child = found[index];
        if (child === undefined) throw notFound("group", formatReferences(patterns.Group, paths[index] ?? []));
        if (around.has(child.id)) throw cycle(group, child);
        return { subgroup_id: child.id, description };
      });
      await insertSubgroups(transaction, group.id, rows);
      const inserted = await lookup.all(
        db,
        rows.map((row) => [org.id, group.id, row.subgroup_id].map((value) => ({ by: "id", value }) as const)),
      );
      return inserted.map(required);
    },

    atPath([org, , group], patch, field) {
      const implied = formatReferences(patterns.Group, [required(org), required(group)]);
      requireSamePath(implied, patch.groupPath, `${field}.group_path`);
      return { ...patch, groupPath: implied };
    },

    update: (transaction, row, message) => updateSubgroup(transaction, row, message.description),

    removeMany: (transaction, rows) => keepOwner(transaction, () => deleteSubgroups(transaction, rows)),

    explain(error, message) {
      if (violatedConstraint(error) !== "subgroups_pkey") return undefined;
      const path = message.groupPath;
      return new ServiceError("RESOURCE_EXISTS", `${path} is already nested in this group`, { cause: error });
    },
  });
}

function cycle(group: GroupRow, child: GroupRow): ServiceError {
  const message =
    group.id === child.id
      ? `the group ${groupPath(group)} cannot be nested in itself`
      : `${groupPath(child)} cannot be nested in ${groupPath(group)}, which is, directly or not, nested in it`;
  return new ServiceError("SUBGROUP_CYCLE", message, {
    metadata: { group: groupPath(group), subgroup: groupPath(child) },
  });
}
