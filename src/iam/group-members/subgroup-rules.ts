import { setImmediate as nextTurn } from "node:timers/promises";
import type { SubgroupSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { groupDefinition } from "../groups/definition.ts";
import { groupPath } from "../groups/message.ts";
import type { GroupRow } from "../groups/store.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { findParents } from "../../standard-methods/batch/find-parents.ts";
import { checkTogether, createFirstFault, mapUntilFault } from "../../standard-methods/batch/first-fault.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { requireSamePath } from "./require-same-path.ts";
import { type SubgroupRow, type Nesting, nestingsAround } from "./subgroup-store.ts";

/** How many nestings are checked between two turns of the event loop: each goes through all groups around its own. */
const itemsPerTurn = 20;

const groupPathField = "subgroup.group_path";

type SubgroupRules = ResourceRules<"subgroups", SubgroupRow, typeof SubgroupSchema>;

export function createSubgroupRules({ readers, escalation }: ResourceDependencies): SubgroupRules {
  const groups = readers.readerOf(groupDefinition, groupDefinition.places[0]).lookup;
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, messages, atItem) {
        const fault = createFirstFault(messages.length, atItem);
        const found = await findParents(transaction, groups, parents);
        const given = mapUntilFault(messages, fault, (message, index) => {
          const path = parseResourcePath(patterns.Group, message.groupPath, groupPathField);
          requireSameOrg(transaction, path[0], groupPathField);
          const group = found[index];
          if (group === undefined) throw notFound("group", formatReferences(patterns.Group, required(parents[index])));
          return { path, group, description: message.description };
        });
        await checkTogether(
          given,
          ({ group }) => group.id,
          fault,
          (some) => {
            const groupIds = some.map(({ group }) => group.id);
            return escalation.requireMayJoin(transaction, groupIds);
          },
        );
        const { db, org } = transaction;
        const children = await groups.all(
          db,
          given.map(({ path }) => [orgReference(transaction), path[1]]),
        );
        const groupIds = given.map(({ group }) => group.id);
        const nesting = createNesting(await nestingsAround(db, org.id, [...new Set(groupIds)]));
        const drafts = await mapItems(given.slice(0, fault.before()), atItem, async (item, index) => {
          const { path, group, description } = item;
          const child = children[index];
          if (child === undefined) throw notFound("group", formatReferences(patterns.Group, path));
          if (nesting.isAround(child.id, group.id)) throw cycle(group, child);
          nesting.add(group.id, child.id);
          if (index % itemsPerTurn === itemsPerTurn - 1) await nextTurn();
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
        await fault.rejectIfAny();
        return drafts;
      },
    },

    async change(_transaction, _row, { description }) {
      return { description };
    },

    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "group", groupId: row.group_id, memberId: null }] : []),
    mayLeaveNoOwner: ["remove"],

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

/** Which groups are nested in which, with those that a batch adds. */
interface Nestings {
  /** Reports whether a group is another one, or one in which that is nested, directly or indirectly. */
  readonly isAround: (groupId: string, other: string) => boolean;
  readonly add: (groupId: string, subgroupId: string) => void;
}

function createNesting(nestings: readonly Nesting[]): Nestings {
  const above = new Map<string, string[]>();
  /** The groups around the last one, of which a batch often has several in turn; undefined once they may be others. */
  let last: { readonly id: string; readonly around: ReadonlySet<string> } | undefined;

  const add = (groupId: string, subgroupId: string): void => {
    const known = above.get(subgroupId);
    if (known === undefined) above.set(subgroupId, [groupId]);
    else known.push(groupId);
    if (last?.around.has(subgroupId) === true) last = undefined;
  };

  const groupsAround = (id: string): ReadonlySet<string> => {
    const around = new Set([id]);
    // A set yields what is added during the loop.
    for (const each of around) for (const group of above.get(each) ?? []) around.add(group);
    return around;
  };

  for (const { groupId, subgroupId } of nestings) add(groupId, subgroupId);
  return {
    add,
    isAround(groupId, other) {
      if (last?.id !== other) last = { id: other, around: groupsAround(other) };
      return last.around.has(groupId);
    },
  };
}
