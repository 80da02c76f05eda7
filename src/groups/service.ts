import type { ServiceImpl } from "@connectrpc/connect";
import { GroupSchema, type GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { authorOf, targetOf } from "../access/call.ts";
import { patterns } from "../paths/patterns.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import { type ResourceDependencies, createStandardMethods } from "../resource/standard-methods.ts";
import { groupPath, toGroup } from "./message.ts";
import { deleteGroup, findGroup, insertGroup, readGroupsPage, selectGroups } from "./store.ts";

export function createGroupsService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupsService> {
  const { database, parents } = dependencies;
  const groups = createStandardMethods(dependencies, {
    type: "Group",
    label: "group",
    schema: GroupSchema,
    toMessage: toGroup,
    pathOf: groupPath,
    idOf: (row) => row.id,
    logged: ({ org_name: _name, org_delete_time: _time, ...row }) => row,
    cursorOf: (row) => [row.org_id, row.id],
    lookup: createPathLookup(database, "groups", ["orgs", "groups"], selectGroups(database.reads)),
    resolveParent: parents.org,
    readPage: readGroupsPage,
    find: findGroup,
    insert: (transaction, _parent, group) => insertGroup(transaction, group),
    update: (transaction, row, group) => updateNamedRow(transaction, "groups", row, group),
    remove: async (transaction, row) => {
      await deleteGroup(transaction, row);
      return null;
    },
    explain: (error, group) => explainNameTaken(error, "groups_name_key", "group", group),
  });

  return {
    async getGroup(_request, context) {
      return toGroup(await groups.get(targetOf(context, patterns.Group)));
    },

    async listGroups(request, context) {
      const { rows, nextPageToken } = await groups.list(targetOf(context, patterns.Org), request);
      return { groups: rows.map(toGroup), nextPageToken };
    },

    async createGroup(request, context) {
      const group = required(request.group);
      return toGroup(await groups.create(targetOf(context, patterns.Org), group, authorOf(context)));
    },

    async updateGroup(request, context) {
      const update = { patch: required(request.group), mask: request.updateMask, field: "group" };
      return toGroup(await groups.update(targetOf(context, patterns.Group), update, authorOf(context)));
    },

    async deleteGroup(request, context) {
      await groups.delete(targetOf(context, patterns.Group), request.etag, authorOf(context));
      return {};
    },
  };
}
