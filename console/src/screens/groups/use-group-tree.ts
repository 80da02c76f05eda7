import { useQuery } from "@connectrpc/connect-query";
import { type Group, GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { parentOf } from "../../calls/paths.ts";

/** A line of the tree of groups. */
export interface TreeLine {
  readonly group: Group;
  /** 0 for a group that is nested in none. */
  readonly depth: number;
  /** What is the same line at each time that the tree is drawn: a group can be nested in several. */
  readonly key: string;
}

/** The most groups and nestings that are drawn as a tree. */
const mostInTree = 1_000;

/** Returns the groups of an org in the order of a tree, each below the groups that it is nested in; undefined if there are too many. */
export function useGroupTree(org: string, enabled: boolean) {
  const options = { enabled, retry: false };
  const groups = useQuery(
    GroupsService.method.listGroups,
    { parentPath: org, pageSize: mostInTree, orderBy: "name" },
    options,
  );
  const request = { parentPath: `${org}/groups/-`, pageSize: mostInTree };
  const nestings = useQuery(GroupMembersService.method.listSubgroups, request, options);
  const whole = groups.data?.nextPageToken === "" && nestings.data?.nextPageToken === "";
  const lines = whole ? toLines(groups.data?.groups ?? [], nestings.data?.subgroups ?? []) : undefined;
  return { lines, error: groups.error ?? nestings.error, settled: groups.isFetched && nestings.isFetched };
}

interface Nesting {
  readonly path: string;
  /** The nested group. */
  readonly groupPath: string;
}

function toLines(groups: readonly Group[], nestings: readonly Nesting[]): readonly TreeLine[] {
  const byPath = new Map(groups.map((group) => [group.path, group]));
  const inner = Map.groupBy(nestings, ({ path }) => parentOf(path));
  const nested = new Set(nestings.map(({ groupPath }) => groupPath));
  const lines: TreeLine[] = [];
  // There are no cycles: the service refuses them.
  const add = (group: Group, depth: number, above: string): void => {
    const key = `${above}/${group.name}`;
    lines.push({ group, depth, key });
    for (const { groupPath } of inner.get(group.path) ?? []) {
      const next = byPath.get(groupPath);
      if (next !== undefined && lines.length < mostInTree * 2) add(next, depth + 1, key);
    }
  };
  for (const group of groups) if (!nested.has(group.path)) add(group, 0, "");
  return lines;
}
