import { Code, ConnectError } from "@connectrpc/connect";
import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "./api.ts";
import type { Pick } from "./create-pick.ts";

/** Writes what an org can have, at random. */
export interface RandomHistory {
  /** Makes one write. Returns false for one that fails because of those before it, and does nothing. */
  readonly write: () => Promise<boolean>;
}

/** How a write fails when others were before it. */
const expected = new Set([Code.NotFound, Code.FailedPrecondition, Code.AlreadyExists, Code.Aborted]);

/** Writes an org at random, twice at once, until the returned function is called. */
export function writeAtRandom(api: Api, org: string, isExpected?: (error: unknown) => boolean): () => Promise<void> {
  const history = createRandomHistory(api, org, { isExpected });
  const done = new AbortController();
  const write = async (): Promise<void> => {
    while (!done.signal.aborted) await history.write();
  };
  const writing = Promise.all([write(), write()]);
  writing.catch(() => undefined);
  return async () => {
    done.abort();
    await writing;
  };
}

interface Options {
  /** With a seed, the history is that of this seed again. */
  readonly pickNumber?: Pick;
  /** Whether another error may come, such as those of a service that is killed. */
  readonly isExpected?: ((error: unknown) => boolean) | undefined;
}

export function createRandomHistory(
  api: Api,
  org: string,
  { pickNumber = (count) => Math.floor(Math.random() * count), isExpected = () => false }: Options = {},
): RandomHistory {
  const paths = { members: [] as string[], groups: [] as string[], projects: [] as string[], roles: [] as string[] };
  const others: { readonly path: string; readonly remove: () => Promise<unknown> }[] = [];
  const pick = <Each>(from: readonly Each[]): Each => {
    if (from.length === 0) throw new ConnectError("there is none yet", Code.NotFound);
    return required(from[pickNumber(from.length)]);
  };
  const idPath = (path: string, { id }: { readonly id: string }): string => `${path}/@${id}`;
  const { members, groups, projects, roles, roleBindings, groupMembers, apiKeys } = api;
  const name = (): string => uniqueName("r");
  const writes: (() => Promise<unknown>)[] = [
    async () => {
      const created = await members.createMember({ parentPath: org, member: { name: name() } });
      paths.members.push(idPath(`${org}/members`, created));
    },
    async () => {
      const requests = [1, 2, 3].map(() => ({ member: { name: name() } }));
      const created = await members.batchCreateMembers({ parentPath: org, requests });
      paths.members.push(...created.members.map((each) => idPath(`${org}/members`, each)));
    },
    async () => {
      const created = await groups.createGroup({ parentPath: org, group: { name: name() } });
      paths.groups.push(idPath(`${org}/groups`, created));
    },
    async () => {
      const created = await projects.createProject({ parentPath: org, project: { name: name() } });
      paths.projects.push(idPath(`${org}/projects`, created));
    },
    async () => {
      const role = { name: name(), permissions: ["iam.members.get"] };
      paths.roles.push(idPath(`${org}/roles`, await roles.createRole({ parentPath: org, role })));
    },
    async () => {
      const [parentPath, memberPath] = [pick(paths.groups), pick(paths.members)];
      const { path } = await groupMembers.createGroupMember({ parentPath, groupMember: { memberPath } });
      others.push({ path, remove: () => groupMembers.deleteGroupMember({ path }) });
    },
    async () => {
      const [parentPath, groupPath] = [pick(paths.groups), pick(paths.groups)];
      await groupMembers.createSubgroup({ parentPath, subgroup: { groupPath } });
    },
    async () => {
      const [parentPath, rolePath] = [pick([org, pick(paths.projects)]), pick(["/roles/viewer", pick(paths.roles)])];
      const subjectPath = pick([...paths.members, ...paths.groups]);
      const roleBinding = { name: name(), rolePath, subjectPath };
      const { path } = await roleBindings.createRoleBinding({ parentPath, roleBinding });
      others.push({ path, remove: () => roleBindings.deleteRoleBinding({ path }) });
    },
    async () => {
      const { path } = await apiKeys.createApiKey({ parentPath: pick(paths.members), apiKey: { name: name() } });
      others.push({ path, remove: () => apiKeys.deleteApiKey({ path }) });
    },
    () => members.updateMember({ path: pick(paths.members), member: { name: name(), displayName: "A B" } }),
    () => groups.updateGroup({ path: pick(paths.groups), group: { name: name() } }),
    () => projects.updateProject({ path: pick(paths.projects), project: { labels: { a: name() } } }),
    () => members.deleteMember({ path: pick(paths.members) }),
    () => members.undeleteMember({ path: pick(paths.members) }),
    () => members.purgeMember({ path: pick(paths.members) }),
    () => members.suspendMember({ path: pick(paths.members) }),
    () => groups.deleteGroup({ path: pick(paths.groups) }),
    () => projects.deleteProject({ path: pick(paths.projects) }),
    () => projects.purgeProject({ path: pick(paths.projects) }),
    () => roles.deleteRole({ path: pick(paths.roles) }),
    () => pick(others).remove(),
  ];
  return {
    async write() {
      try {
        await pick(writes)();
        return true;
      } catch (error) {
        if (!expected.has(ConnectError.from(error).code) && !isExpected(error)) throw error;
        return false;
      }
    },
  };
}
