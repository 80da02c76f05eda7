import { useTransport } from "@connectrpc/connect-query";
import { createClient, type Transport } from "@connectrpc/connect";
import { useQueries } from "@tanstack/react-query";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import { texts } from "../texts/texts.ts";
import { collectionOf, nameOf, orgOf } from "./paths.ts";

interface Named {
  readonly displayName: string;
}

type ReadNames = (parentPath: string, paths: string[]) => Promise<readonly Named[]>;

/** How the names of a collection are read: all at once. */
const readers: Readonly<Record<string, (transport: Transport) => ReadNames>> = {
  members: (transport) => async (parentPath, paths) =>
    (await createClient(MembersService, transport).batchGetMembers({ parentPath, paths })).members,
  groups: (transport) => async (parentPath, paths) =>
    (await createClient(GroupsService, transport).batchGetGroups({ parentPath, paths })).groups,
  projects: (transport) => async (parentPath, paths) =>
    (await createClient(ProjectsService, transport).batchGetProjects({ parentPath, paths })).projects,
  roles: (transport) => async (parentPath, paths) =>
    (await createClient(RolesService, transport).batchGetRoles({ parentPath, paths })).roles,
};

/** How long a name that was read is shown without reading it again. */
const staleTime = 60_000;

/**
 * Returns what people call the resources at some paths. One of which nothing can be read, or which has no display name, is called by its
 * name in the path.
 */
export function useDisplayNames(paths: readonly string[]): (path: string) => string {
  const transport = useTransport();
  const wanted = new Map<string, Set<string>>();
  for (const path of paths) {
    const [org, collection] = [orgOf(path), collectionOf(path)];
    if (org === "" || path === org || readers[collection] === undefined) continue;
    const key = `${org} ${collection}`;
    wanted.set(key, (wanted.get(key) ?? new Set()).add(path));
  }
  const found = useQueries({
    queries: [...wanted].map(([key, set]) => {
      const [org = "", collection = ""] = key.split(" ");
      const list = [...set].toSorted();
      return {
        queryKey: ["display-names", key, list],
        // What is found is in the order of what was asked for. Its paths can differ: they have names where the others have ids.
        queryFn: async () => {
          const named = (await readers[collection]?.(transport)(org, list)) ?? [];
          return named.map(({ displayName }, index) => [list[index] ?? "", displayName] as const);
        },
        staleTime,
        retry: false,
      };
    }),
    combine: (results) => new Map(results.flatMap(({ data }) => data ?? [])),
  });
  return (path) => {
    // An org can have a role of its own with the same name.
    if (path.startsWith("/roles/")) return `${nameOf(path)} ${texts.predefined}`;
    const name = found.get(path) || nameOf(path);
    // Who is of another org is written with ids, and only some may read more of it.
    return name.startsWith("@") && collectionOf(path) === "members" ? texts.somebody : name;
  };
}
