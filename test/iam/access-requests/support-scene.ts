// Two servers of one service, an org that approves what members of the platform do in it, and such members.
import { uniqueName } from "../../support/api.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { type Person, inHours, openAccessScene } from "./access-scene.ts";

const platformOrg = "/orgs/system";

/** Starts two servers on a database of their own: lists over all orgs and members of the org `system` are in these tests. */
export async function startServers(
  options?: Parameters<typeof startTestServer>[0],
): Promise<readonly [TestServer, TestServer]> {
  const first = await startTestServer(options);
  const { databaseUrl, secretKeysFile } = first;
  return [first, await startTestServer({ databaseUrl, secretKeysFile })];
}

/** @param isRequired whether the org approves what members of the platform do in it, from the beginning. */
export async function openSupportScene(server: TestServer, isRequired = true) {
  const scene = await openAccessScene(server);
  const { operator, org, person } = scene;
  const owner = await person("/roles/owner");
  const guard = (who: Person, supportAccessRequired: boolean) =>
    who.api.orgs.updateOrg({
      path: org,
      org: { supportAccessRequired },
      updateMask: { paths: ["support_access_required"] },
    });
  if (isRequired) await guard(owner, true);
  /** Creates a member of the platform that holds a role on it, if one is given. */
  const staff = async (rolePath = "/roles/owner"): Promise<Person> => {
    const made = await person(undefined, undefined, platformOrg);
    if (rolePath !== "") {
      const roleBinding = { name: uniqueName("staff"), subjectPath: made.path, rolePath };
      await operator.api.roleBindings.createRoleBinding({ roleBinding });
    }
    return made;
  };
  const askFor = (who: Person, rolePath = "/roles/viewer", resourcePath = org, hours = 1) =>
    who.requests.createAccessRequest({
      parentPath: org,
      accessRequest: { rolePath, resourcePath, reason: "Ticket 4711", expireTime: inHours(hours) },
    });
  return {
    ...scene,
    /** Creates a member of the org, as its owner does. */
    person: async (rolePath?: string): Promise<Person> => {
      const [name, { api }] = [uniqueName("person"), owner];
      const { path } = await api.members.createMember({ parentPath: org, member: { name } });
      if (rolePath !== undefined) {
        const roleBinding = { name, subjectPath: path, rolePath };
        await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
      }
      const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
      return scene.withKey(path, secret);
    },
    owner,
    guard,
    staff,
    askFor,
    approve: ({ path }: { readonly path: string }) => owner.requests.approveAccessRequest({ path }),
  };
}
