// Every resource that can be written, as one table, so that a test that holds for all writes is written once.
import type { DescService, Message } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { type Api, uniqueName } from "./api.ts";

/** What all resources answer. */
export interface Item extends Message {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly etag: string;
  readonly secret?: string;
  readonly state?: number;
}

/** The fields that writes share, and some that go with them. */
export interface WriteOptions {
  readonly validateOnly?: boolean;
  readonly requestId?: string;
  readonly allowMissing?: boolean;
  /** Of a Delete; an Update has it among its fields. */
  readonly etag?: string;
  readonly updateMask?: { readonly paths: string[] };
}

export interface WrittenResource {
  readonly client: keyof Api;
  readonly service: DescService;
  readonly type: string;
  /** The collection in its paths. */
  readonly collection: string;
  /** What names it in a Create: a name, or the path of what it stands for. */
  readonly namedBy: "name" | "memberPath" | "groupPath";
  /** Makes what it is created in; answers its path. */
  makeParent(api: Api, org: { readonly path: string; readonly customerPath: string }): Promise<string>;
  /** Makes what must be there before one with this name can be. */
  makeWay?(api: Api, org: string, name: string): Promise<unknown>;
  /** Creates one where there is no method for that. */
  makeOtherwise?(api: Api, name: string): Promise<unknown>;
  /** Fields that must be set, beside what names it. */
  fieldsIn?(org: string): object;
  /** Fields that an Update takes, and that change what was made. */
  readonly change: object;
  /** Fields that break a rule, and the one that errors name, as protos spell it. */
  readonly broken: object;
  readonly brokenField: string;
}

const named = {
  namedBy: "name",
  change: { displayName: "Changed", labels: { tier: "gold" } },
  broken: { displayName: "Ä".repeat(513) },
  brokenField: "display_name",
} as const;

const inOrg = (_api: Api, { path }: { path: string }): Promise<string> => Promise.resolve(path);

async function inNewGroup(api: Api, { path: parentPath }: { path: string }): Promise<string> {
  return (await api.groups.createGroup({ parentPath, group: { name: uniqueName("holder") } })).path;
}

/** Makes a group to grant something to. */
async function withHolder(api: Api, { path: parentPath }: { path: string }): Promise<string> {
  await api.groups.createGroup({ parentPath, group: { name: "holder" } });
  return parentPath;
}

const boundToHolder = (org: string) => ({ rolePath: "/roles/viewer", subjectPath: `${org}/groups/holder` });

export const writtenResources: Record<string, WrittenResource> = {
  customers: {
    ...named,
    client: "customers",
    service: CustomersService,
    type: "Customer",
    collection: "customers",
    makeParent: () => Promise.resolve(""),
    makeOtherwise: (api, name) => api.orgs.createOrg({ org: { name } }),
  },
  orgs: {
    ...named,
    client: "orgs",
    service: OrgsService,
    type: "Org",
    collection: "orgs",
    makeParent: (_api, { customerPath }) => Promise.resolve(customerPath),
  },
  projects: {
    ...named,
    client: "projects",
    service: ProjectsService,
    type: "Project",
    collection: "projects",
    makeParent: inOrg,
  },
  members: {
    ...named,
    client: "members",
    service: MembersService,
    type: "Member",
    collection: "members",
    makeParent: inOrg,
  },
  "API keys": {
    ...named,
    client: "apiKeys",
    service: ApiKeysService,
    type: "ApiKey",
    collection: "apiKeys",
    makeParent: async (api, { path: parentPath }) =>
      (await api.members.createMember({ parentPath, member: { name: uniqueName("holder") } })).path,
    broken: { expireTime: timestampFromDate(new Date(0)) },
    brokenField: "expire_time",
  },
  groups: {
    ...named,
    client: "groups",
    service: GroupsService,
    type: "Group",
    collection: "groups",
    makeParent: inOrg,
  },
  memberships: {
    client: "groupMembers",
    service: GroupMembersService,
    type: "GroupMember",
    collection: "members",
    namedBy: "memberPath",
    makeParent: inNewGroup,
    makeWay: (api, parentPath, name) => api.members.createMember({ parentPath, member: { name } }),
    change: { expireTime: timestampFromDate(new Date("2100-01-01")) },
    broken: { expireTime: timestampFromDate(new Date(0)) },
    brokenField: "expire_time",
  },
  subgroups: {
    client: "groupMembers",
    service: GroupMembersService,
    type: "Subgroup",
    collection: "subgroups",
    namedBy: "groupPath",
    makeParent: inNewGroup,
    makeWay: (api, parentPath, name) => api.groups.createGroup({ parentPath, group: { name } }),
    change: { description: "Changed" },
    broken: { description: "Ä".repeat(2049) },
    brokenField: "description",
  },
  roles: {
    ...named,
    client: "roles",
    service: RolesService,
    type: "Role",
    collection: "roles",
    makeParent: inOrg,
    change: { displayName: "Changed", permissions: ["compute.instances.start"] },
  },
  "role bindings": {
    ...named,
    client: "roleBindings",
    service: RoleBindingsService,
    type: "RoleBinding",
    collection: "roleBindings",
    makeParent: withHolder,
    fieldsIn: boundToHolder,
    broken: { expireTime: timestampFromDate(new Date(0)) },
    brokenField: "expire_time",
  },
  "role bindings of projects": {
    ...named,
    client: "roleBindings",
    service: RoleBindingsService,
    type: "RoleBinding",
    collection: "roleBindings",
    makeParent: async (api, org) => {
      const parentPath = await withHolder(api, org);
      return (await api.projects.createProject({ parentPath, project: { name: uniqueName("web") } })).path;
    },
    fieldsIn: boundToHolder,
    broken: { condition: "request.time <" },
    brokenField: "condition",
  },
};

export type Verb = "Create" | "Update" | "Delete";

/** Methods that make something of the state of an item. */
export type StateVerb = "Undelete" | "Suspend" | "Activate" | "Purge";

/** The writes that a resource has. */
export function verbsOf({ service, type }: WrittenResource): Verb[] {
  const names = new Set(service.methods.map(({ name }) => name));
  return (["Create", "Update", "Delete"] as const).filter((verb) => names.has(`${verb}${type}`));
}

/** The methods that change the state of a resource. */
export function stateVerbsOf({ service, type }: WrittenResource): StateVerb[] {
  const names = new Set(service.methods.map(({ name }) => name));
  return (["Undelete", "Suspend", "Activate", "Purge"] as const).filter((verb) => names.has(`${verb}${type}`));
}

/** A place for items of one resource, in an org and a customer of its own, and the calls that write there. */
export interface Workplace {
  readonly org: { readonly path: string; readonly customerPath: string };
  readonly parent: string;
  pathOf(name: string): string;
  /** Makes what must be there before one with this name can be. */
  makeWay(name: string): Promise<void>;
  /** Makes an item; what must be there is. */
  create(name: string, options?: WriteOptions, fields?: object, parent?: string): Promise<Item>;
  get(path: string): Promise<Item>;
  /** All in the parent; for those without one, all that there are. */
  list(options?: { readonly showDeleted?: boolean }): Promise<unknown>;
  update(path: string, fields: object, options?: WriteOptions): Promise<Item>;
  delete(path: string, options?: WriteOptions): Promise<Item>;
  change(verb: StateVerb, path: string, options?: WriteOptions): Promise<Item>;
  /** The same place for another client. */
  as(other: Api): Workplace;
}

export async function openWorkplace(resource: WrittenResource, api: Api): Promise<Workplace> {
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  return workplaceOf(resource, api, org, await resource.makeParent(api, org));
}

function workplaceOf(resource: WrittenResource, api: Api, org: Workplace["org"], parent: string): Workplace {
  const { type, collection, makeOtherwise } = resource;
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  // The client of each resource has these methods under names of its own.
  const client = api[resource.client] as unknown as Record<string, (request: object) => Promise<Item>>;
  const call = (name: string, request: object): Promise<Item> => {
    const method = client[name];
    if (method === undefined) throw new Error(`there is no ${name}`);
    return method(request);
  };
  const hasParent = type !== "Org" && type !== "Customer";
  const pathOf = (name: string): string => `${hasParent ? parent : ""}/${collection}/${name}`;

  return {
    org,
    parent,
    pathOf,
    async makeWay(name) {
      await resource.makeWay?.(api, org.path, name);
    },
    async create(name, options = {}, fields = {}, parentPath = parent) {
      if (makeOtherwise !== undefined) {
        await makeOtherwise(api, name);
        return call(`get${type}`, { path: pathOf(name) });
      }
      const identity = nameFields(resource, org.path, name);
      // An org is created in no parent, but in a customer that it names.
      const place = type === "Org" ? { customerPath: parentPath } : {};
      const within = type === "Org" ? {} : { parentPath };
      return call(`create${type}`, {
        ...within,
        [field]: { ...identity, ...resource.fieldsIn?.(org.path), ...place, ...fields },
        ...options,
      });
    },
    get: (path) => call(`get${type}`, { path }),
    list: (options = {}) =>
      call(`list${type}s`, { pageSize: 1000, ...(hasParent && { parentPath: parent }), ...options }),
    update(path, fields, options = {}) {
      const must = options.allowMissing === true ? resource.fieldsIn?.(org.path) : {};
      return call(`update${type}`, { path, [field]: { ...must, ...fields }, ...options });
    },
    delete: (path, options = {}) => call(`delete${type}`, { path, ...options }),
    change: (verb, path, options = {}) => call(`${verb.toLowerCase()}${type}`, { path, ...options }),
    as: (other) => workplaceOf(resource, other, org, parent),
  };
}

/** What gives an item of a resource its name. */
export function nameFields({ namedBy }: WrittenResource, org: string, name: string): Record<string, string> {
  switch (namedBy) {
    case "name":
      return { name };
    case "memberPath":
      return { memberPath: `${org}/members/${name}` };
    case "groupPath":
      return { groupPath: `${org}/groups/${name}` };
  }
}
