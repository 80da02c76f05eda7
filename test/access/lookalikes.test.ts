// Tests inputs that resemble others: reused names, other spellings of paths, times that have just passed, and conditions
// that fail.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type OrgCast, createOrgCast } from "./org-cast.ts";

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const admin = "/roles/admin";
const start = "compute.instances.start";

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let cast: OrgCast;
  let org: string;
  let web: string;
  beforeEach(async () => {
    cast = await createOrgCast(protocol, server);
    org = cast.org.path;
    web = await cast.project("web");
  });

  describe("a resource with the name of a deleted one has none of its access", () => {
    test("a member", async () => {
      const old = await cast.member("alice", admin);
      await cast.join(await cast.group("admins", admin), old.path);
      await cast.api.members.deleteMember({ path: old.path });
      const alice = await cast.member("alice");
      expect(alice.path).toBe(old.path);
      expect(await cast.may(alice.path, start, web)).toBe(false);
      expect(await failureOf(alice.api.projects.getProject({ path: web }))).toMatchObject({ code: "PermissionDenied" });
      expect(await failureOf(old.api.projects.getProject({ path: web }))).toMatchObject({ code: "Unauthenticated" });
    });

    test("a group", async () => {
      const alice = await cast.member("alice");
      const group = await cast.group("admins", admin);
      const outer = await cast.group("outer", admin);
      await cast.nest(outer, group);
      await cast.join(group, alice.path);
      await cast.api.groups.deleteGroup({ path: group });
      await cast.join(await cast.group("admins"), alice.path);
      expect(await cast.may(alice.path, start, web)).toBe(false);
      expect(await cast.may(group, start, web)).toBe(false);
    });

    test("a role", async () => {
      const alice = await cast.member("alice");
      const role = await cast.role("starter", start);
      await cast.grant(org, alice.path, role);
      expect(await cast.may(alice.path, start, web)).toBe(true);
      await cast.api.roles.deleteRole({ path: role });
      await cast.role("starter", start);
      expect(await cast.may(alice.path, start, web)).toBe(false);
    });

    test("a project", async () => {
      const alice = await cast.member("alice");
      await cast.grant(web, alice.path, admin);
      const { id } = await cast.api.projects.deleteProject({ path: web });
      await cast.project("web");
      expect(await cast.may(alice.path, start, web)).toBe(false);
      expect(await cast.may(alice.path, start, `${org}/projects/@${id}`)).toBe(false);
    });
  });

  test("a member with the former name of another one has none of its access, which stays with the renamed member", async () => {
    const [alice, bob] = [await cast.member("alice", admin), await cast.member("bob")];
    await cast.api.members.updateMember({ path: alice.path, member: { name: "carol" } });
    await cast.api.members.updateMember({ path: bob.path, member: { name: "alice" } });
    expect(await cast.may(`${org}/members/alice`, start, web)).toBe(false);
    expect(await cast.may(`${org}/members/carol`, start, web)).toBe(true);
    expect(await failureOf(bob.api.projects.getProject({ path: web }))).toMatchObject({ code: "PermissionDenied" });
  });

  describe("with any spelling of a path", () => {
    const idOf = async (path: string): Promise<string> => {
      const { id } = path.includes("/members/")
        ? await cast.api.members.getMember({ path })
        : await cast.api.projects.getProject({ path });
      return id;
    };

    test("the decision is the same", async () => {
      const alice = (await cast.member("alice")).path;
      const shop = await cast.project("shop");
      await cast.grant(web, alice, admin);
      const byId = `/orgs/@${cast.org.id}`;
      const subjects = [alice, alice.slice(1), `${org}/members/@${await idOf(alice)}`];
      subjects.push(`${byId}/members/alice`, `${byId}/members/@${await idOf(alice)}`);
      for (const [project, expected] of [
        [web, true],
        [shop, false],
      ] as const) {
        const name = project.split("/").at(-1);
        const id = await idOf(project);
        const spellings = [project, `${org}/projects/@${id}`, `${byId}/projects/${name}`, `${byId}/projects/@${id}`];
        // Each spelling of the subject meets one of the project, and in `npm run soak` all.
        for (const [index, subject] of subjects.entries()) {
          for (const spelling of rounds([required(spellings[index % spellings.length])], spellings)) {
            expect(await cast.may(subject, start, spelling)).toBe(expected);
            expect(await cast.may(subject, start, `${spelling}/instances/db`)).toBe(expected);
          }
        }
      }
    });

    test("a condition sees the current names", async () => {
      const alice = (await cast.member("alice")).path;
      const condition = `resource.path == "${web}/instances/db" && subject.path == "${alice}"`;
      await cast.grant(org, alice, admin, { condition });
      const subject = `/orgs/@${cast.org.id}/members/@${await idOf(alice)}`;
      const project = `/orgs/@${cast.org.id}/projects/@${await idOf(web)}`;
      expect(await cast.may(subject, start, `${project}/instances/db`)).toBe(true);
      expect(await cast.may(subject, start, `${project}/instances/db2`)).toBe(false);
      await cast.api.projects.updateProject({ path: web, project: { name: "shop" } });
      expect(await cast.may(subject, start, `${project}/instances/db`)).toBe(false);
    });

    test.each(["", "//", "/./", "/../web/", "/%2e%2e/"])(
      "inserting %j does not lead to the same resource",
      async (middle) => {
        const alice = (await cast.member("alice")).path;
        await cast.grant(org, alice, admin, { condition: `resource.path == "${web}/instances/db"` });
        const twisted = `${web}${middle}instances/db`;
        const call = cast.access.checkAccess({ subjectPath: alice, permission: start, resourcePath: twisted });
        const allowed = await call.then(
          (answer) => answer.allowed,
          () => false,
        );
        expect(allowed).toBe(false);
      },
    );

    test("a resource in a missing project does not count as one of the org", async () => {
      const alice = (await cast.member("alice")).path;
      await cast.grant(org, alice, admin, { condition: `resource.path.startsWith("${org}/instances/")` });
      expect(await cast.may(alice, start, `${org}/instances/db`)).toBe(true);
      expect(await cast.may(alice, start, `${org}/projects/nothing/instances/db`)).toBe(false);
      await cast.api.projects.deleteProject({ path: web });
      expect(await cast.may(alice, start, `${web}/instances/db`)).toBe(false);
    });
  });

  test("in a missing project, only what is granted on the platform without a condition counts", async () => {
    const parentPath = "orgs/system";
    const [plain, conditional] = await Promise.all(
      ["", `!("closed" in resource.labels)`].map(async (condition) => {
        const { path } = await cast.api.members.createMember({ parentPath, member: { name: uniqueName("a") } });
        await cast.grant("", path, admin, { condition });
        return path;
      }),
    );
    const alice = (await cast.member("alice")).path;
    await cast.grant(org, alice, admin, { condition: `resource.path.startsWith("${org}/projects/")` });
    const mays = (path: string) =>
      Promise.all([plain, conditional, alice].map((each) => cast.may(each ?? "", start, path)));
    const project = { name: "closed", labels: { closed: "yes" } };
    const { id } = await cast.api.projects.createProject({ parentPath: org, project });
    expect(await mays(`${org}/projects/closed/instances/db`)).toEqual([true, false, true]);
    // By its former name, nobody sees the labels of the project, nor those of its org in their place.
    await cast.api.projects.updateProject({ path: `${org}/projects/closed`, project: { name: "moved" } });
    expect(await mays(`${org}/projects/closed/instances/db`)).toEqual([true, false, false]);
    expect(await mays(`${org}/projects/@${id}/instances/db`)).toEqual([true, false, true]);
    expect(await mays(`${org}/projects/@01990000-0000-7000-8000-00000000dead`)).toEqual([true, false, false]);
  });

  describe("a condition", () => {
    const failing = [
      "context.vip",
      "context.vip == true && context.other.missing",
      "context.text",
      "context.number",
      "context.list[9] == 1",
      "1 / context.zero == 1",
      'resource.labels["tier"] == "gold"',
    ];

    test.each(failing)("that fails or returns no boolean grants nothing: %s", async (condition) => {
      const alice = (await cast.member("alice")).path;
      await cast.grant(org, alice, admin, { condition });
      const context = { text: "true", number: 1, list: [], zero: 0 };
      const question = { subjectPath: alice, permission: start, resourcePath: web, context };
      expect((await cast.access.checkAccess(question)).allowed).toBe(false);
      const { subjectPaths } = await cast.access.listSubjects({ permission: start, resourcePath: web, context });
      expect(subjectPaths).toEqual([]);
    });

    test.each(["1", '"true"', "request.time", "[true]", "tru", "resource.path = 1"])(
      "that cannot return a boolean is rejected: %s",
      async (condition) => {
        const alice = (await cast.member("alice")).path;
        expect(await failureOf(cast.grant(org, alice, admin, { condition }))).toMatchObject({
          reason: "FIELD_INVALID",
        });
      },
    );
  });
});

describe("exactly, by the clock of the database", () => {
  /** Long enough for what comes before the time to be asked on a free machine. On a busy one, longer times are tried. */
  const leastAheadMs = 700;

  const databaseNow = async (): Promise<number> => {
    const [row] = await sql.query("select extract(epoch from clock_timestamp())::float8 * 1000 as now");
    return Number(row?.["now"]);
  };

  interface Asked {
    readonly before: readonly boolean[];
    readonly after: readonly boolean[];
  }

  /** Repeats the call around a time. Returns the results of calls that ended before it, and of those that began after it. */
  async function askAround(time: Date, ask: () => Promise<boolean>): Promise<Asked> {
    const [before, after]: [boolean[], boolean[]] = [[], []];
    while (after.length < 20) {
      const begin = await databaseNow();
      const answer = await ask();
      const end = await databaseNow();
      if (end < time.getTime()) before.push(answer);
      else if (begin >= time.getTime()) after.push(answer);
    }
    return { before, after };
  }

  /**
   * Sets something up that changes at a time, and asks around that time. Starts again, with a later time, if the time was over before
   * an answer came, or before the change was made, which is refused then.
   */
  async function askAroundChange(setUpAndAsk: (time: Date) => Promise<readonly Asked[]>): Promise<readonly Asked[]> {
    for (let aheadMs = leastAheadMs; ; aheadMs *= 3) {
      const time = new Date((await databaseNow()) + aheadMs);
      const asked = await setUpAndAsk(time).catch(async (error: unknown) => {
        if ((await databaseNow()) < time.getTime()) throw error;
        return [];
      });
      if (asked.length > 0 && asked.every(({ before }) => before.length > 0)) return asked;
    }
  }

  const distinct = (answers: readonly boolean[]) => [...new Set(answers)];

  test.each(["binding", "membership"] as const)("a %s grants nothing from its expire time on", async (kind) => {
    const cast = await createOrgCast("gRPC", server);
    const web = await cast.project("web");
    const asked = await askAroundChange(async (time) => {
      const alice = await cast.member(uniqueName("alice"));
      const expireTime = timestampFromDate(time);
      if (kind === "binding") {
        await cast.grant(cast.org.path, alice.path, admin, { expireTime });
      } else {
        const parentPath = await cast.group(uniqueName("admins"), admin);
        const groupMember = { memberPath: alice.path, expireTime };
        await cast.api.groupMembers.createGroupMember({ parentPath, groupMember });
      }
      const letIn = (): Promise<boolean> =>
        alice.api.projects.getProject({ path: web }).then(
          () => true,
          () => false,
        );
      return Promise.all([askAround(time, () => cast.may(alice.path, start, web)), askAround(time, letIn)]);
    });
    for (const { before, after } of asked) {
      expect(distinct(before)).toEqual([true]);
      expect(distinct(after)).toEqual([false]);
    }
  });

  test("a binding grants nothing before its start time", async () => {
    const cast = await createOrgCast("gRPC", server);
    const asked = await askAroundChange(async (time) => {
      const alice = await cast.member(uniqueName("alice"));
      await cast.grant(cast.org.path, alice.path, admin, { startTime: timestampFromDate(time) });
      return [await askAround(time, () => cast.may(alice.path, start, cast.org.path))];
    });
    for (const { before, after } of asked) {
      expect(distinct(before)).toEqual([false]);
      expect(distinct(after)).toEqual([true]);
    }
  });
});
