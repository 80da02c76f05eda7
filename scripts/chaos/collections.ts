// Members, projects and groups behind one interface.
import type { CallOptions } from "@connectrpc/connect";
import type { Api } from "../../test/support/api.ts";
import type { Kind } from "./history.ts";

export interface Seen {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

interface Page {
  readonly items: readonly Seen[];
  readonly nextPageToken: string;
}

interface Create {
  readonly name: string;
  readonly description: string;
}

export interface Collection {
  create(fields: Create, requestId: string, options: CallOptions): Promise<Seen>;
  batchCreate(fields: readonly Create[], requestId: string, options: CallOptions): Promise<readonly Seen[]>;
  update(name: string, description: string, requestId: string, options: CallOptions): Promise<Seen>;
  delete(name: string, requestId: string, options: CallOptions): Promise<unknown>;
  batchDelete(names: readonly string[], requestId: string, options: CallOptions): Promise<unknown>;
  get(name: string, options: CallOptions): Promise<Seen>;
  readonly list: (pageSize: number, pageToken: string, options: CallOptions) => Promise<Page>;
}

/** Returns the collections of an org, `/orgs/acme`. */
export function collectionsOf(api: Api, parentPath: string): Record<Kind, Collection> {
  const { projects, groups, members } = api;
  const pathsOf = (kind: Kind, names: readonly string[]): string[] =>
    names.map((name) => `${parentPath}/${kind}/${name}`);
  return {
    projects: {
      create: (project, requestId, options) => projects.createProject({ parentPath, project, requestId }, options),
      batchCreate: async (all, requestId, options) => {
        const requests = all.map((project) => ({ project }));
        return (await projects.batchCreateProjects({ parentPath, requests, requestId }, options)).projects;
      },
      update: (name, description, requestId, options) => {
        const path = `${parentPath}/projects/${name}`;
        return projects.updateProject({ path, project: { description }, requestId }, options);
      },
      delete: (name, requestId, options) =>
        projects.deleteProject({ path: `${parentPath}/projects/${name}`, requestId }, options),
      batchDelete: (names, requestId, options) =>
        projects.batchDeleteProjects({ parentPath, paths: pathsOf("projects", names), requestId }, options),
      get: (name, options) => projects.getProject({ path: `${parentPath}/projects/${name}` }, options),
      list: async (pageSize, pageToken, options) => {
        const page = await projects.listProjects({ parentPath, pageSize, pageToken }, options);
        return { items: page.projects, nextPageToken: page.nextPageToken };
      },
    },
    groups: {
      create: (group, requestId, options) => groups.createGroup({ parentPath, group, requestId }, options),
      batchCreate: async (all, requestId, options) => {
        const requests = all.map((group) => ({ group }));
        return (await groups.batchCreateGroups({ parentPath, requests, requestId }, options)).groups;
      },
      update: (name, description, requestId, options) => {
        const path = `${parentPath}/groups/${name}`;
        return groups.updateGroup({ path, group: { description }, requestId }, options);
      },
      delete: (name, requestId, options) =>
        groups.deleteGroup({ path: `${parentPath}/groups/${name}`, requestId }, options),
      batchDelete: (names, requestId, options) =>
        groups.batchDeleteGroups({ parentPath, paths: pathsOf("groups", names), requestId }, options),
      get: (name, options) => groups.getGroup({ path: `${parentPath}/groups/${name}` }, options),
      list: async (pageSize, pageToken, options) => {
        const page = await groups.listGroups({ parentPath, pageSize, pageToken }, options);
        return { items: page.groups, nextPageToken: page.nextPageToken };
      },
    },
    members: {
      create: (member, requestId, options) => members.createMember({ parentPath, member, requestId }, options),
      batchCreate: async (all, requestId, options) => {
        const requests = all.map((member) => ({ member }));
        return (await members.batchCreateMembers({ parentPath, requests, requestId }, options)).members;
      },
      update: (name, description, requestId, options) => {
        const path = `${parentPath}/members/${name}`;
        return members.updateMember({ path, member: { description }, requestId }, options);
      },
      delete: (name, requestId, options) =>
        members.deleteMember({ path: `${parentPath}/members/${name}`, requestId }, options),
      batchDelete: (names, requestId, options) =>
        members.batchDeleteMembers({ parentPath, paths: pathsOf("members", names), requestId }, options),
      get: (name, options) => members.getMember({ path: `${parentPath}/members/${name}` }, options),
      list: async (pageSize, pageToken, options) => {
        const page = await members.listMembers({ parentPath, pageSize, pageToken }, options);
        return { items: page.members, nextPageToken: page.nextPageToken };
      },
    },
  };
}
