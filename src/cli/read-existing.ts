import { Code, ConnectError } from "@connectrpc/connect";
import { formatPath } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Clients } from "./create-clients.ts";
import type { Creation } from "./creation.ts";
import { identityOf, identityOfRoleBinding } from "./identity-of.ts";

const pageSize = 1_000;

/** Returns the identities of an org and everything in it; empty if the org does not exist. */
export async function readExisting(clients: Clients, org: string): Promise<ReadonlySet<string>> {
  const path = formatPath(patterns.Org, org);
  if (!(await orgExists(clients, path))) return new Set();
  const inOrg = { parentPath: path };
  const inAllProjects = { parentPath: formatPath(patterns.Project, org, "-") };
  const inAllGroups = { parentPath: formatPath(patterns.Group, org, "-") };
  const lists = await Promise.all([
    listAll(async (page) => {
      const { members: items, nextPageToken } = await clients.members.listMembers({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listAll(async (page) => {
      const { groups: items, nextPageToken } = await clients.groups.listGroups({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listAll(async (page) => {
      const { projects: items, nextPageToken } = await clients.projects.listProjects({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
    listAll(async (page) => {
      const { members: items, nextPageToken } = await clients.groupMembers.listGroupMembers({
        ...inAllGroups,
        ...page,
      });
      return { items, nextPageToken };
    }),
    listAll(async (page) => {
      const { subgroups: items, nextPageToken } = await clients.groupMembers.listSubgroups({ ...inAllGroups, ...page });
      return { items, nextPageToken };
    }),
    listAll(async (page) => {
      const { roles: items, nextPageToken } = await clients.roles.listRoles({ ...inOrg, ...page });
      return { items, nextPageToken };
    }),
  ]);
  const listBindings = (parent: { parentPath: string }) =>
    listAll(async (page) => {
      const { roleBindings: items, nextPageToken } = await clients.roleBindings.listRoleBindings({
        ...parent,
        ...page,
      });
      return { items, nextPageToken };
    });
  const bindings = await Promise.all([listBindings(inOrg), listBindings(inAllProjects)]);
  const paths = lists.flat().map((resource) => resource.path);
  return new Set([path, ...paths, ...bindings.flat().map(identityOfRoleBinding)]);
}

/** Whether the resource that a creation conflicts with is the resource that it should create. */
export async function isThere(clients: Clients, creation: Creation): Promise<boolean> {
  switch (creation.kind) {
    case "org":
      // The creation also conflicts with a customer of the same name.
      return orgExists(clients, creation.path);
    case "role binding": {
      const binding = await clients.roleBindings.getRoleBinding({ path: creation.path });
      return identityOfRoleBinding(binding) === identityOf(creation);
    }
    default:
      return true;
  }
}

async function orgExists(clients: Clients, path: string): Promise<boolean> {
  try {
    await clients.orgs.getOrg({ path });
    return true;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return false;
    throw error;
  }
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

async function listAll<Item>(
  readPage: (page: { pageSize: number; pageToken: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const all: Item[] = [];
  let pageToken = "";
  do {
    const { items, nextPageToken } = await readPage({ pageSize, pageToken });
    all.push(...items);
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return all;
}
