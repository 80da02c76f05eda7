import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { nameOf, orgOf, parentOf } from "../../calls/paths.ts";

/** A group that somebody belongs to. */
export interface Belonging {
  readonly groupPath: string;
  /** The groups through which, from the one that has the member itself; empty for a member of the group itself. */
  readonly through: readonly string[];
}

/** The most groups in one filter. */
const atOnce = 50;

/** More levels than that are not followed. */
const deepest = 20;

/** Returns the groups that a member belongs to: first those that have it, then the groups that these are nested in, level by level. */
export function useGroupsOf(memberPath: string): UseQueryResult<readonly Belonging[]> {
  const transport = useTransport();
  return useQuery({
    queryKey: ["groups-of", memberPath],
    queryFn: async ({ signal }) => {
      const client = createClient(GroupMembersService, transport);
      const parentPath = `${orgOf(memberPath)}/groups/-`;
      const filter = `member_path = ${JSON.stringify(memberPath)}`;
      const { members } = await client.listGroupMembers({ parentPath, filter, pageSize: 1_000 }, { signal });
      const found = new Map<string, Belonging>();
      let level = members.map(({ path }): Belonging => ({ groupPath: parentOf(path), through: [] }));
      for (let depth = 0; level.length > 0 && depth < deepest; depth += 1) {
        const added = level.filter(({ groupPath }) => !found.has(groupPath));
        for (const belonging of added) found.set(belonging.groupPath, belonging);
        const names = added.map(({ groupPath }) => nameOf(groupPath));
        const nestings = await nestingsOf(names, async (nested) =>
          client.listSubgroups({ parentPath, filter: `name = (${nested})`, pageSize: 1_000 }, { signal }),
        );
        level = nestings.flatMap(({ path, groupPath }) => {
          const inner = found.get(groupPath);
          return inner === undefined ? [] : [{ groupPath: parentOf(path), through: [...inner.through, groupPath] }];
        });
      }
      return [...found.values()];
    },
    retry: false,
  });
}

interface Nesting {
  readonly path: string;
  readonly groupPath: string;
}

async function nestingsOf(
  names: readonly string[],
  list: (names: string) => Promise<{ readonly subgroups: readonly Nesting[] }>,
): Promise<readonly Nesting[]> {
  const found: Nesting[] = [];
  for (let from = 0; from < names.length; from += atOnce) {
    const some = names.slice(from, from + atOnce).map((name) => JSON.stringify(name));
    found.push(...(await list(some.join(" OR "))).subgroups);
  }
  return found;
}
