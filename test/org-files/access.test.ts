// What a plan says about access: who gains and loses what, and which expectations of the file would not hold.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { type Company, openCompany } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type Files, all, filesOf } from "./files.ts";

let company: Company;
let files: Files;
let name: string;
let path: string;
/** Those of a member that may plan, and not see access. */
let plainFiles: Files;
/** An org in which the group shop may write on the project web-shop. */
let base: JsonObject;

beforeAll(async () => {
  const server = await sharedServer();
  const { url } = server;
  company = await openCompany("gRPC", server);
  const { key } = await company.joinAs("owner", "olive");
  ({ name, path } = company.org);
  files = filesOf(path, url, key, "gRPC");
  await files.apply({
    org: name,
    members: ["alice", "bob"],
    groups: [
      { name: "shop", members: ["alice"] },
      { name: "all", subgroups: ["shop"] },
    ],
    projects: [{ name: "web-shop", labels: { tier: "gold" } }, "anvils"],
    grants: [{ group: "shop", project: "web-shop", role: "write" }],
  });
  const { permissions } = await company.api.roles.getRole({ path: "roles/viewer" });
  const seesNoAccess = permissions.filter((each) => /^iam\.(?!access\.)/.test(each));
  const role = await company.api.roles.createRole({
    parentPath: path,
    role: { name: "plans", permissions: seesNoAccess },
  });
  const plain = await company.join("plain");
  await company.bind(path, role.path, plain);
  plainFiles = filesOf(path, url, plain.key);
  base = await files.export();
});

/** Returns the access of a plan in lines: `alice on projects/web-shop +repos.access.read`. */
async function accessOf(file: JsonObject, options = {}): Promise<readonly string[]> {
  const { accessPreview } = await files.plan(file, options);
  return (accessPreview?.changes ?? []).map(({ memberPath, resourcePath, gainedPermissions, lostPermissions }) =>
    [
      memberPath.split("/").at(-1),
      resourcePath.split("/").slice(3).join("/"),
      ...gainedPermissions.map((each) => `+${each}`),
      ...lostPermissions.map((each) => `-${each}`),
    ].join(" "),
  );
}

const edited = (from: string, to: string): JsonObject =>
  JSON.parse(JSON.stringify(base).replace(from, to)) as JsonObject;

const written = ["read", "triage", "write"].map((verb) => `repos.access.${verb}`);

describe("who gains and loses what", () => {
  test("by what the file itself creates: a member in a new group, with a new role on a new project", async () => {
    const file = {
      org: name,
      members: ["newt"],
      roles: [{ name: "sings", permissions: ["choir.songs.sing"] }],
      groups: [
        { name: "choir", members: ["newt"] },
        { name: "singers", subgroups: ["choir"] },
      ],
      projects: [
        {
          name: "hall",
          role_bindings: [{ name: "sing", role_path: `${path}/roles/sings`, subject_path: `${path}/groups/singers` }],
        },
      ],
    };
    const { accessPreview } = await files.plan(file);
    expect(accessPreview).toMatchObject({
      gainingMemberCount: 1,
      losingMemberCount: 0,
      partial: false,
      trimmed: false,
    });
    expect(await accessOf(file)).toEqual(["newt projects/hall +choir.songs.sing"]);
    expect(await files.export()).toEqual(base);
  });

  test("by a change of a role, of a membership and of a group, and by removals", async () => {
    const lost = `projects/web-shop ${written.map((each) => `-${each}`).join(" ")}`;
    const gained = `projects/web-shop ${written.map((each) => `+${each}`).join(" ")}`;
    const { roles = [] } = base;
    const more = JSON.parse(
      JSON.stringify(roles).replace('"repos.access.write"', '"repos.access.write","repos.access.fly"'),
    ) as [];
    expect(await accessOf({ ...base, roles: more })).toEqual(["alice projects/web-shop +repos.access.fly"]);
    expect(await accessOf(edited('["alice"]', '["bob"]'), all)).toEqual([`alice ${lost}`, `bob ${gained}`]);
    // With a member, a group or a project goes what was in it or was granted to it.
    const without = (key: string, gone: string): JsonObject => ({
      ...base,
      [key]: (base[key] as (string | JsonObject)[]).filter(
        (each) => each !== gone && (each as JsonObject)["name"] !== gone,
      ),
    });
    const alone = JSON.parse(
      JSON.stringify(without("members", "alice")).replace(',"members":["alice"]', ""),
    ) as JsonObject;
    expect(await accessOf(alone, all)).toEqual([`alice ${lost}`]);
    expect(await accessOf(without("projects", "web-shop"), all)).toEqual([`alice ${lost}`]);
  });

  test("is not told about nothing, and not to who may not see it", async () => {
    expect((await files.plan({ ...base, description: "Sells things." })).accessPreview).toBeUndefined();
    const { accessPreview } = await plainFiles.plan(edited('["alice"]', '["bob"]'), all);
    expect(accessPreview).toMatchObject({ trimmed: true, changeCount: 0, changes: [] });
  });
});

test("a plan that another member will apply spares that member, and not its caller", async () => {
  const file = { ...base, members: ["alice", "bob"], role_bindings: [] };
  const removedBy = async (theirs: Files, options: object): Promise<readonly string[]> =>
    (await theirs.plan(file, { ...all, ...options })).lines.filter((line) => line.startsWith("DELETE members/"));
  expect(await removedBy(files, {})).toEqual(["DELETE members/plain"]);
  // As `plain` sees it.
  expect(await removedBy(plainFiles, {})).toEqual([]);
  expect(await removedBy(plainFiles, { authorPath: `${path}/members/olive` })).toEqual(["DELETE members/plain"]);
  for (const wrong of [`${path}/members/none`, "orgs/system/members/operator", `${path}/groups/shop`]) {
    expect((await failureOf(files.plan(file, { authorPath: wrong }))).fields).toEqual(["author_path"]);
  }
});

describe("expectations", () => {
  const withExpect = (file: JsonObject, ...lines: string[]): JsonObject => ({ ...file, expect: lines });

  test("that hold are no obstacle, also for what the file creates, and are not part of the org", async () => {
    const file = withExpect(
      { ...base, members: [...(base["members"] as string[]), "zoe"] },
      "alice may repos.access.write on web-shop",
      "groups/shop may repos.access.read on projects/web-shop",
      "bob may not repos.access.read on web-shop",
      "members/zoe may not repos.access.read on web-shop",
      "alice may not repos.access.read",
      "olive may iam.members.create",
    );
    const { obstacles, lines } = await files.plan(file);
    expect([obstacles, lines]).toEqual([[], ["CREATE members/zoe"]]);
    expect((await files.plan(withExpect(base, "alice may repos.access.write on web-shop"), all)).lines).toEqual([]);
  });

  test("that would be broken refuse the plan and name the change, or say that no change does it", async () => {
    const file = withExpect(
      edited('["alice"]', '["bob"]'),
      "alice may repos.access.write on web-shop",
      "bob may not repos.access.write on web-shop",
      "bob may repos.access.read on anvils",
      "olive may iam.members.create",
    );
    const { obstacles } = await files.plan(file, all);
    expect(obstacles).toEqual([
      'expect[0] "alice may repos.access.write on web-shop" would not hold any more: delete groups/shop/members/alice',
      'expect[1] "bob may not repos.access.write on web-shop" would not hold any more: create groups/shop/members/bob',
      'expect[2] "bob may repos.access.read on anvils" does not hold, and did not before the changes either',
    ]);
    const failure = await failureOf(files.apply(file, all));
    expect([failure.code, failure.reason, failure.message]).toEqual([
      "FailedPrecondition",
      "STATE_FORBIDS",
      obstacles.join("; "),
    ]);
    expect(await files.export()).toEqual(base);
  });

  test("see conditions with the labels that the file gives", async () => {
    const condition = 'resource.labels.tier == "gold"';
    const conditional = edited(
      `"subject_path":"/orgs/${name}/groups/shop"`,
      `"subject_path":"/orgs/${name}/groups/shop","condition":${JSON.stringify(condition)}`,
    );
    const line = "alice may repos.access.write on web-shop";
    expect((await files.plan(withExpect(conditional, line))).obstacles).toEqual([]);
    const plain = JSON.parse(JSON.stringify(conditional).replace('"gold"}', '"lead"}')) as JsonObject;
    const { obstacles } = await files.plan(withExpect(plain, line));
    expect(obstacles).toEqual([
      `expect[0] "${line}" would not hold any more: update projects/web-shop/roleBindings/shop-write`,
    ]);
  });

  test("by a caller that may not check access are refused", async () => {
    expect((await plainFiles.plan(base)).obstacles).toEqual([]);
    const failure = await failureOf(plainFiles.plan(withExpect(base, "alice may repos.access.write on web-shop")));
    expect([failure.reason, failure.metadata["permission"]]).toEqual(["PERMISSION_DENIED", "iam.access.check"]);
  });

  const wrong: Record<string, readonly [unknown, string, string]> = {
    "no sentence": ["alice", "org_file.expect[0]", "must be SUBJECT may PERMISSION on PROJECT"],
    "no text": [7, "org_file.expect[0]", "must be a string"],
    "a permission of another form": [
      "alice may write on web-shop",
      "org_file.expect[0]",
      "must be <area>.<collection>.<verb>",
    ],
    "a permission that there is not": [
      "alice may not iam.members.deletes",
      "org_file.expect[0]",
      "the nearest is iam.members.delete",
    ],
    "nobody there": ["nobody may not iam.members.get", "org_file.expect[0]", "there is no members/nobody"],
    "a collection within a name": [
      "amembers/lice may not iam.members.get",
      "org_file.expect[0]",
      "there is no members/",
    ],
    "no such project": ["alice may iam.members.get on moon", "org_file.expect[0]", "there is no projects/moon"],
  };

  test.each(Object.keys(wrong))("with %s are refused", async (title) => {
    const [line, field, part] = wrong[title] ?? ["", "", ""];
    const failure = await failureOf(files.plan({ ...base, expect: [line] } as JsonObject));
    expect([failure.reason, failure.fields]).toEqual(["FIELD_INVALID", [field]]);
    expect(failure.message).toContain(part);
  });

  test("are five hundred at most", async () => {
    const lines = Array.from({ length: 500 }, () => "alice may repos.access.write on web-shop");
    expect((await files.plan(withExpect(base, ...lines))).obstacles).toEqual([]);
    const broken = lines.map((line) => line.replace("alice", "bob"));
    const { obstacles } = await files.plan(withExpect(base, ...broken));
    expect([obstacles.length, obstacles.at(-1)]).toEqual([101, "400 more expectations would not hold"]);
    const failure = await failureOf(files.plan(withExpect(base, ...lines, "bob may iam.members.get")));
    expect(failure.fields).toEqual(["org_file.expect"]);
  });
});
