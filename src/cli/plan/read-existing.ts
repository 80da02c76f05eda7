import { Code, ConnectError } from "@connectrpc/connect";
import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import {
  type ComparedFields,
  fieldsOfLimited,
  fieldsOfMember,
  fieldsOfNamed,
  fieldsOfRole,
} from "./compared-fields.ts";
import type { Clients } from "../calls/create-clients.ts";
import { permissionsBeyond } from "./permissions-beyond.ts";
import type { Creation, Kind } from "./creation.ts";
import { identityOf, identityOfRoleBinding } from "./identity-of.ts";
import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";

const pageSize = 1_000;

/** What an import needs to know of a resource. */
export interface ExistingResource {
  readonly kind: Kind;
  readonly path: string;
  /** The resource in reports. */
  readonly label: string;
  readonly fields: ComparedFields;
}

type Entry = readonly [identity: string, resource: ExistingResource];

/** Everything in an org, and itself, that files describe, by identity. */
export type Existing = ReadonlyMap<string, ExistingResource>;

export async function readExisting(clients: Clients, org: Org): Promise<Existing> {
  const { name } = org;
  const inOrg = { parentPath: formatPath(patterns.Org, name) };
  const inAllProjects = { parentPath: formatPath(patterns.Project, name, "-") };
  const inAllGroups = { parentPath: formatPath(patterns.Group, name, "-") };
  const listBindings = (parent: { parentPath: string }) =>
    listAll(
      (page) => clients.roleBindings.listRoleBindings({ ...parent, ...page }),
      ({ roleBindings }) => roleBindings,
      (binding) => [
        identityOfRoleBinding(binding),
        {
          kind: "role binding",
          path: binding.path,
          label: labelOfRoleBinding(binding),
          fields: fieldsOfLimited(binding),
        },
      ],
    );
  const lists = await Promise.all([
    listAll(
      (page) => clients.members.listMembers({ ...inOrg, ...page }),
      ({ members }) => members,
      (member) => describe("member", member, fieldsOfMember(member)),
    ),
    listAll(
      (page) => clients.groups.listGroups({ ...inOrg, ...page }),
      ({ groups }) => groups,
      (group) => describe("group", group, fieldsOfNamed(group)),
    ),
    listAll(
      (page) => clients.projects.listProjects({ ...inOrg, ...page }),
      ({ projects }) => projects,
      (project) => describe("project", project, fieldsOfNamed(project)),
    ),
    listAll(
      (page) => clients.groupMembers.listSubgroups({ ...inAllGroups, ...page }),
      ({ subgroups }) => subgroups,
      (subgroup) => describe("subgroup", subgroup, {}),
    ),
    listAll(
      (page) => clients.groupMembers.listGroupMembers({ ...inAllGroups, ...page }),
      ({ members }) => members,
      (member) => describe("membership", member, fieldsOfLimited(member)),
    ),
    listAll(
      (page) => clients.roles.listRoles({ ...inOrg, ...page }),
      ({ roles }) => roles,
      (role) => describe("role", role, fieldsOfRole(role)),
    ),
    listBindings(inOrg),
    listBindings(inAllProjects),
  ]);
  return new Map([describe("org", org, fieldsOfNamed(org)), ...lists.flat()]);
}

function describe(kind: Kind, { path }: { readonly path: string }, fields: ComparedFields): Entry {
  return [path, { kind, path, label: labelOf(path), fields }];
}

/** Whether the resource that a creation conflicts with is the resource that it should create. */
export async function isThere(clients: Clients, creation: Creation): Promise<boolean> {
  switch (creation.kind) {
    case "org":
      // The creation also conflicts with a customer of the same name.
      return (await findOrg(clients, creation.path)) !== undefined;
    case "role": {
      const { permissions } = await clients.roles.getRole({ path: creation.path });
      return permissionsBeyond(creation, permissions).length === 0;
    }
    case "role binding": {
      const binding = await clients.roleBindings.getRoleBinding({ path: creation.path });
      return identityOfRoleBinding(binding) === identityOf(creation);
    }
    default:
      return true;
  }
}

export async function findOrg(clients: Clients, path: string): Promise<Org | undefined> {
  try {
    return await clients.orgs.getOrg({ path });
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

/** Reads all pages of a list, and keeps of each item what an import needs. */
async function listAll<Page extends { readonly nextPageToken: string }, Item>(
  readPage: (page: { pageSize: number; pageToken: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  toEntry: (item: Item) => Entry,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let pageToken = "";
  do {
    const page = await readPage({ pageSize, pageToken });
    for (const item of itemsOf(page)) entries.push(toEntry(item));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return entries;
}

/** Returns a short text for a resource of an org: `alice`, `alice in engineering` for a membership or subgroup. */
function labelOf(path: string): string {
  const [, , org = "", , name = org, , inner] = path.split("/");
  return inner === undefined ? name : `${inner} in ${name}`;
}

/** Returns what a role binding grants, and its name: `member bob has the role owner on the org (bob-owner)`. */
function labelOfRoleBinding({ path, name, rolePath, subjectPath }: RoleBinding): string {
  const [, , , collection, subject] = subjectPath.split("/");
  const kind = collection === "groups" ? "group" : "member";
  const [, , , , project, bindings] = path.split("/");
  const place = bindings === undefined ? "the org" : `the project ${project}`;
  return `${kind} ${subject} has the role ${labelOf(rolePath)} on ${place} (${name})`;
}
