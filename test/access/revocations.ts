// Ways to grant and to revoke access.
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Api, uniqueName } from "../support/api.ts";
import { type RacePlace, type RaceServers, bind, listBindings } from "./race-place.ts";

interface Given {
  /** Revokes the access. It is revoked when the promise resolves. */
  take(api: Api): Promise<unknown>;
  /** Restores the previous state of the org. */
  tidyUp?(api: Api): Promise<unknown>;
}

/** Grants alice access to the project. */
type Give = (place: RacePlace, api: Api) => Promise<Given>;

/** The initial delay of an expire time. It is doubled if the time has passed when the request arrives. */
const soonMs = 200;

export function createRevocations({ waitUntil }: Pick<RaceServers, "waitUntil">): Readonly<Record<string, Give>> {
  /** Sets an expire time, and waits for it. */
  const expire = async (update: (expireTime: Timestamp) => Promise<unknown>, aheadMs = soonMs): Promise<void> => {
    const time = new Date(Date.now() + aheadMs);
    try {
      await update(timestampFromDate(time));
    } catch (thrown) {
      if (ConnectError.from(thrown).code !== Code.InvalidArgument) throw thrown;
      return expire(update, aheadMs * 2);
    }
    await waitUntil(time);
  };

  /** Grants access with a binding, and revokes it by changing something else, which is restored. */
  const bound =
    (
      take: (place: RacePlace, api: Api) => Promise<unknown>,
      comesBack: (place: RacePlace, api: Api) => Promise<unknown>,
    ): Give =>
    async (place, api) => {
      const path = await bind(api, place.web, place.alice, place.reader);
      return {
        take: (taker) => take(place, taker),
        async tidyUp(tidier) {
          await comesBack(place, tidier);
          await tidier.roleBindings.deleteRoleBinding({ path });
        },
      };
    };

  const join = async ({ alice, bound: parentPath }: RacePlace, api: Api): Promise<string> =>
    (await api.groupMembers.createGroupMember({ parentPath, groupMember: { memberPath: alice } })).path;

  return {
    "a binding on the project": async ({ web, alice, reader }, api) => {
      const path = await bind(api, web, alice, reader);
      return { take: (taker) => taker.roleBindings.deleteRoleBinding({ path }) };
    },

    "a binding on the org": async ({ org, alice }, api) => {
      const path = await bind(api, org, alice, "/roles/viewer");
      return { take: (taker) => taker.roleBindings.deleteRoleBinding({ path }) };
    },

    "a binding that expires": async ({ web, alice, reader }, api) => {
      const path = await bind(api, web, alice, reader);
      return {
        take: (taker) =>
          expire((expireTime) => taker.roleBindings.updateRoleBinding({ path, roleBinding: { expireTime } })),
      };
    },

    "a membership": async (place, api) => {
      const path = await join(place, api);
      return { take: (taker) => taker.groupMembers.deleteGroupMember({ path }) };
    },

    "a membership that expires": async (place, api) => {
      const path = await join(place, api);
      return {
        take: (taker) =>
          expire((expireTime) => taker.groupMembers.updateGroupMember({ path, groupMember: { expireTime } })),
      };
    },

    "a nested group": async ({ bound: parentPath, outer }, api) => {
      const { path } = await api.groupMembers.createSubgroup({ parentPath, subgroup: { groupPath: outer } });
      return { take: (taker) => taker.groupMembers.deleteSubgroup({ path }) };
    },

    "a group that is deleted": async ({ org, web, reader, outer }, api) => {
      const { path } = await api.groups.createGroup({ parentPath: org, group: { name: uniqueName("team") } });
      await api.groupMembers.createSubgroup({ parentPath: path, subgroup: { groupPath: outer } });
      await bind(api, web, path, reader);
      return { take: (taker) => taker.groups.deleteGroup({ path }) };
    },

    "a role that loses the permission": async ({ org, web, outer }, api) => {
      const role = { name: uniqueName("role"), permissions: ["iam.groups.list"] };
      const { path } = await api.roles.createRole({ parentPath: org, role });
      await bind(api, web, outer, path);
      await api.roles.updateRole({ path, role: { permissions: [listBindings, "iam.groups.list"] } });
      return {
        take: (taker) => taker.roles.updateRole({ path, role: { permissions: ["iam.groups.list"] } }),
        tidyUp: (tidier) => tidier.roles.deleteRole({ path }),
      };
    },

    "a role that is deleted": async ({ org, web, alice }, api) => {
      const role = { name: uniqueName("role"), permissions: [listBindings] };
      const { path } = await api.roles.createRole({ parentPath: org, role });
      await bind(api, web, alice, path);
      return { take: (taker) => taker.roles.deleteRole({ path }) };
    },

    "a member who is suspended": bound(
      ({ alice: path }, api) => api.members.suspendMember({ path }),
      ({ alice: path }, api) => api.members.activateMember({ path }),
    ),

    "a member who is deleted": async ({ alice: path, bound: parentPath }, api) => {
      const { id } = await api.members.getMember({ path });
      const { path: membership } = await api.groupMembers.createGroupMember({
        parentPath,
        groupMember: { memberPath: path },
      });
      return {
        take: (taker) => taker.members.deleteMember({ path }),
        async tidyUp(tidier) {
          await tidier.members.undeleteMember({ path: path.replace(/[^/]+$/, `@${id}`) });
          await tidier.groupMembers.deleteGroupMember({ path: membership });
        },
      };
    },

    "a project that is suspended": bound(
      ({ web: path }, api) => api.projects.suspendProject({ path }),
      ({ web: path }, api) => api.projects.activateProject({ path }),
    ),

    "a project that is deleted": async ({ web: path, alice, reader }, api) => {
      const { id } = await api.projects.getProject({ path });
      const binding = await bind(api, path, alice, reader);
      return {
        take: (taker) => taker.projects.deleteProject({ path }),
        async tidyUp(tidier) {
          await tidier.projects.undeleteProject({ path: path.replace(/[^/]+$/, `@${id}`) });
          await tidier.roleBindings.deleteRoleBinding({ path: binding });
        },
      };
    },

    "an org that is suspended": bound(
      ({ org: path }, api) => api.orgs.suspendOrg({ path }),
      ({ org: path }, api) => api.orgs.activateOrg({ path }),
    ),
  };
}
