import type { ServiceImpl } from "@connectrpc/connect";
import { GroupSchema, GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { keepOwner } from "../access/keep-owner.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { groupPath, toGroup } from "./message.ts";
import { deleteGroups, findGroup, insertGroups, readGroupsPage, selectGroups } from "./store.ts";

import { groupFields } from "./fields.ts";

export function createGroupsService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupsService> {
  const { database, parents } = dependencies;
  return createStandardService(GroupsService, dependencies, {
    type: "Group",
    label: "group",
    schema: GroupSchema,
    toMessage: toGroup,
    pathOf: groupPath,
    idOf: (row) => row.id,
    parentIdOf: (row) => row.org_id,
    logged: ({ org_name: _name, org_delete_time: _time, ...row }) => row,
    fields: groupFields,
    uniqueKey: ["groups.org_id", "groups.id"],
    lookup: createPathLookup(database, "groups", ["orgs", "groups"], selectGroups(database.reads)),
    resolveParent: parents.org,
    readPage: readGroupsPage,
    find: findGroup,
    insertMany: (transaction, _parent, groups) => insertGroups(transaction, groups),
    update: (transaction, row, group) => updateNamedRow(transaction, "groups", row, group),
    removeMany: (transaction, rows) => keepOwner(transaction, () => deleteGroups(transaction, rows)),
    explain: (error, group) => explainNameTaken(error, "groups_name_key", "group", group),
  });
}
