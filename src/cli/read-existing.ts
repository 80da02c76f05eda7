import { Code, ConnectError } from "@connectrpc/connect";
import { formatPath } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Clients } from "./create-clients.ts";

const pageSize = 1_000;

/** The paths of an org and of everything in it; none when there is no such org. */
export async function readExisting(clients: Clients, org: string): Promise<ReadonlySet<string>> {
  const path = formatPath(patterns.Org, org);
  if (!(await orgExists(clients, path))) return new Set();
  const inOrg = { parentPath: path };
  const inAllGroups = { parentPath: formatPath(patterns.Group, org, "-") };
  const lists = await Promise.all([
    listPaths(async (page) => {
      const { members: items, nextPageToken } = await clients.members.listMembers({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listPaths(async (page) => {
      const { groups: items, nextPageToken } = await clients.groups.listGroups({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listPaths(async (page) => {
      const { projects: items, nextPageToken } = await clients.projects.listProjects({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listPaths(async (page) => {
      const { members: items, nextPageToken } = await clients.groupMembers.listGroupMembers({
        ...inAllGroups,
        ...page,
      });
      return { items, nextPageToken };
    }),
    listPaths(async (page) => {
      const { subgroups: items, nextPageToken } = await clients.groupMembers.listSubgroups({ ...inAllGroups, ...page });
      return { items, nextPageToken };
    }),
  ]);
  return new Set([path, ...lists.flat()]);
}

export async function orgExists(clients: Clients, path: string): Promise<boolean> {
  try {
    await clients.orgs.getOrg({ path });
    return true;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return false;
    throw error;
  }
}

interface Page {
  readonly items: readonly { readonly path: string }[];
  readonly nextPageToken: string;
}

async function listPaths(
  readPage: (page: { pageSize: number; pageToken: string }) => Promise<Page>,
): Promise<string[]> {
  const paths: string[] = [];
  let pageToken = "";
  do {
    const { items, nextPageToken } = await readPage({ pageSize, pageToken });
    for (const { path } of items) paths.push(path);
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return paths;
}
