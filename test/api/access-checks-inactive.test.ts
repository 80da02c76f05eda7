// Tests that ExplainAccess names the role bindings that begin later, and those that have ended.
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace, startInstance as permission } from "../support/access-place.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const hourMs = 3_600_000;

const given = { rolePath: "/roles/admin", groupPaths: [] as string[], begins: undefined, ended: undefined };

async function inactiveGrants(place: AccessPlace, subjectPath: string, resourcePath: string) {
  const explained = await place.access.explainAccess({ subjectPath, permission, resourcePath });
  expect(explained.allowed).toBe(explained.grants.length > 0);
  return explained.inactiveGrants.map(({ roleBindingPath, rolePath, groupPaths, startTime, expireTime }) => ({
    roleBindingPath,
    rolePath,
    groupPaths,
    begins: startTime && timestampDate(startTime).getTime(),
    ended: expireTime && timestampDate(expireTime).getTime(),
  }));
}

describe.each(overFirst(["gRPC", "REST"]))("over %s, without a grant,", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  const inactive = (subjectPath: string, resourcePath = place.web) => inactiveGrants(place, subjectPath, resourcePath);

  test("a binding that begins later is named with its start, also one of a group, the next one first", async () => {
    const { alice, bob, org, sre, web, grant } = place;
    const [tomorrow, later] = [Date.now() + 24 * hourMs, Date.now() + 48 * hourMs];
    const second = await grant(org.path, alice, "/roles/admin", { startTime: timestampFromMs(later) });
    const first = await grant(web, sre, "/roles/admin", { startTime: timestampFromMs(tomorrow) });
    await grant(web, alice, "/roles/viewer", { startTime: timestampFromMs(tomorrow) });
    await grant(web, bob, "/roles/admin", { startTime: timestampFromMs(tomorrow) });
    expect(await inactive(alice)).toEqual([
      { ...given, roleBindingPath: first, groupPaths: [sre], begins: tomorrow },
      { ...given, roleBindingPath: second, begins: later },
    ]);
    expect(await inactive(alice, org.path)).toEqual([{ ...given, roleBindingPath: second, begins: later }]);
    await grant(web, alice, "/roles/admin");
    expect(await inactive(alice)).toEqual([]);
  });

  test("a binding that was deleted is not named", async () => {
    const { api, alice, web, grant } = place;
    const path = await grant(web, alice, "/roles/admin", { expireTime: timestampFromMs(Date.now() + hourMs) });
    await api.roleBindings.deleteRoleBinding({ path });
    expect(await inactive(alice)).toEqual([]);
  });
});

describe.each(["still stored", "removed"])(
  "without a grant, a binding and a membership that have ended and are %s",
  (when) => {
    const isRemoved = when === "removed";
    let own: TestServer | undefined;
    beforeAll(async () => {
      // The job removes what ends at its end. That of the shared server does not run.
      if (isRemoved) own = await startTestServer({ purgeIntervalMs: 3_000_000 });
    });
    afterAll(() => own?.close());

    test("are named with their ends", async () => {
      const { url, operatorKey } = own ?? server;
      const { created, expireTime } = await createBeforeEnd(async (soon) => {
        const place = await createAccessPlace("gRPC", url, operatorKey);
        const { api, alice, bob, org, sre, web, grant } = place;
        const ofBob = await grant(web, bob, "/roles/admin", { expireTime: soon });
        const ofSre = await grant(org.path, sre, "/roles/admin", { expireTime: soon });
        const staff = await api.groups.createGroup({ parentPath: org.path, group: { name: "staff" } });
        const ofStaff = await grant(web, staff.path, "/roles/admin");
        const groupMember = { memberPath: alice, expireTime: soon };
        await api.groupMembers.createGroupMember({ parentPath: staff.path, groupMember });
        return { place, staff, ofBob, ofSre, ofStaff };
      });
      const { place, staff, ofBob, ofSre, ofStaff } = created;
      const { api, alice, bob, org, sre, web } = place;
      const end = timestampDate(expireTime).getTime();
      const inactive = (subjectPath: string, resourcePath = web) => inactiveGrants(place, subjectPath, resourcePath);
      const removed = async () => {
        const { changes } = await api.changes.listChanges({ parentPath: org.path, filter: "type = EXPIRED" });
        return changes.length;
      };
      await expect.poll(removed).toBe(isRemoved ? 3 : 0);
      await expect.poll(() => inactive(alice)).toHaveLength(2);
      await expect.poll(() => inactive(bob)).toHaveLength(1);
      expect(await inactive(bob)).toEqual([{ ...given, roleBindingPath: ofBob, ended: end }]);
      const throughSre = { ...given, roleBindingPath: ofSre, groupPaths: [sre], ended: end };
      const throughStaff = { ...given, roleBindingPath: ofStaff, groupPaths: [staff.path], ended: end };
      expect(await inactive(alice)).toEqual(expect.arrayContaining([throughSre, throughStaff]));
      expect(await inactive(alice, org.path)).toEqual([throughSre]);
      expect(await inactive(sre)).toEqual([{ ...throughSre, groupPaths: [] }]);
    });
  },
);
