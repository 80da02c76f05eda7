// What Microsoft Entra ID and Okta send, by their documentation, in their order.
import { beforeAll, describe, expect, test } from "vitest";
import { sharedTokenServers } from "../support/token-servers.ts";
import { uniqueName } from "../support/api.ts";
import { type Directory, type ScimScene, membersOf, openScimScene, patch } from "./scim-scene.ts";

let scene: ScimScene;
let directory: Directory;
beforeAll(async () => {
  scene = await openScimScene(await sharedTokenServers());
  directory = await scene.directory();
});

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const query = (path: string, filter: string, more = "") => `${path}?${more}filter=${encodeURIComponent(filter)}`;

describe("Entra ID", () => {
  test("tests the connection with a user that does not exist, and finds nobody", async () => {
    const { status, body } = await directory.scim("GET", query("/Users", 'userName eq "5f2a0c1e-no-such-user"'));
    expect([status, body]).toEqual([
      200,
      {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      },
    ]);
  });

  test("creates, changes, disables and deletes a user", async () => {
    const { scim } = directory;
    const userName = `${uniqueName("Judy")}@Acme.example`;
    const created = await scim("POST", "/Users?aadOptscim062020", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User", enterprise],
      externalId: uniqueName("0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"),
      userName,
      active: true,
      addresses: [{ type: "work", streetAddress: "1 Main St", primary: true }],
      displayName: "Judy Hopps",
      emails: [{ type: "work", value: userName, primary: true }],
      meta: { resourceType: "User" },
      name: { formatted: "Judy Hopps", familyName: "Hopps", givenName: "Judy" },
      roles: [],
      title: "Officer",
      [enterprise]: { department: "Precinct 1", manager: { value: "26118915" } },
    });
    expect(created).toMatchObject({ status: 201, body: { userName, active: true, displayName: "Judy Hopps" } });
    expect(created.headers.get("content-type")).toBe("application/scim+json");
    expect(created.headers.get("location")).toBe(created.body.meta.location);
    expect(created.body).not.toHaveProperty("title");
    const { id } = created.body;

    const found = await scim("GET", query("/Users", `userName eq "${userName.toLowerCase()}"`));
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id, userName }] });
    const byMail = await scim("GET", query("/Users", `emails[type eq "work"].value eq "${userName}"`));
    expect(byMail.body.Resources).toMatchObject([{ id }]);

    // Without the flag: verbs in capitals, booleans as texts, an address that is not there.
    const changed = await scim(
      "PATCH",
      `/Users/${id}`,
      patch(
        { op: "Replace", path: "displayName", value: "Judy H." },
        { op: "Add", path: 'emails[type eq "other"].value', value: "judy@zootopia.example" },
        { op: "Replace", path: 'emails[type eq "work"].value', value: `new.${userName}` },
        { op: "Add", path: "title", value: "Detective" },
        { op: "Add", path: `${enterprise}:department`, value: "Precinct 2" },
        { op: "Replace", path: 'addresses[type eq "work"].streetAddress', value: "2 Main St" },
      ),
    );
    expect(changed).toMatchObject({ status: 200, body: { displayName: "Judy H.", active: true } });
    expect(changed.body.emails).toEqual([
      { value: `new.${userName}`, type: "work", primary: true },
      { value: "judy@zootopia.example", type: "other" },
    ]);
    expect(await scene.api.members.getMember({ path: `${scene.org}/members/@${id}` })).toMatchObject({
      displayName: "Judy H.",
      email: `new.${userName}`,
    });

    // With it: one value, with keys that are paths.
    const value = { "name.givenName": "Judith", active: false, [`${enterprise}:department`]: "Precinct 3" };
    const disabled = await scim("PATCH", `/Users/${id}`, patch({ op: "replace", value }));
    expect(disabled.body).toMatchObject({ active: false, name: { givenName: "Judith", familyName: "Hopps" } });
    const enabled = await scim("PATCH", `/Users/${id}`, patch({ op: "Replace", path: "active", value: "True" }));
    expect(enabled.body.active).toBe(true);
    const again = await scim("PATCH", `/Users/${id}`, patch({ op: "Replace", path: "active", value: "False" }));
    expect(again.body.active).toBe(false);
    // Who is disabled stays to be seen.
    expect((await scim("GET", query("/Users", `userName eq "${userName}"`))).body.totalResults).toBe(1);

    expect((await scim("DELETE", `/Users/${id}`)).status).toBe(204);
    const gone = await scim("GET", `/Users/${id}`);
    expect([gone.status, gone.body]).toEqual([
      404,
      {
        schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
        status: "404",
        detail: `there is no user ${id}`,
      },
    ]);
  });

  test("creates a group, and adds and removes its members", async () => {
    const { scim } = directory;
    const [one, two, three] = [await newOne(), await newOne(), await newOne()];
    const displayName = uniqueName("Group1Display");
    const created = await scim("POST", "/Groups", {
      schemas: [
        "urn:ietf:params:scim:schemas:core:2.0:Group",
        "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group",
      ],
      externalId: uniqueName("8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159"),
      displayName,
      meta: { resourceType: "Group" },
    });
    expect(created).toMatchObject({ status: 201, body: { displayName, members: [] } });
    const { id } = created.body;
    const listed = await scim(
      "GET",
      query("/Groups", `displayName eq "${displayName}"`, "excludedAttributes=members&"),
    );
    expect(listed.body.Resources).toEqual([expect.not.objectContaining({ members: expect.anything() })]);

    const add = { op: "Add", path: "members", value: [{ $ref: null, value: one }, { value: two }, { value: three }] };
    expect((await scim("PATCH", `/Groups/${id}`, patch(add))).status).toBe(200);
    expect(await membersOf(scim, id)).toEqual([one, two, three].toSorted());
    expect((await scim("GET", query("/Groups", `id eq "${id}" and members eq "${one}"`))).body.totalResults).toBe(1);

    // By the standard, this would remove everybody.
    const remove = { op: "Remove", path: "members", value: [{ $ref: null, value: one }] };
    await scim("PATCH", `/Groups/${id}`, patch(remove));
    expect(await membersOf(scim, id)).toEqual([two, three].toSorted());
    await scim("PATCH", `/Groups/${id}`, patch({ op: "remove", path: `members[value eq "${two}"]` }));
    expect(await membersOf(scim, id)).toEqual([three]);
    await scim("PATCH", `/Groups/${id}`, patch({ op: "Replace", path: "displayName", value: `${displayName}x` }));
    expect((await scim("GET", `/Groups/${id}`)).body.displayName).toBe(`${displayName}x`);
    expect((await scim("DELETE", `/Groups/${id}`)).status).toBe(204);
    expect((await scim("GET", `/Groups/${id}`)).status).toBe(404);
  });
});

describe("Okta", () => {
  test("looks for a user, creates it, replaces its profile, and deactivates it", async () => {
    const { scim } = directory;
    const userName = `${uniqueName("nick")}@acme.example`;
    const looked = await scim("GET", query("/Users", `userName eq "${userName}"`, "startIndex=1&count=100&"));
    expect(looked.body.totalResults).toBe(0);
    const profile = {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      userName,
      name: { givenName: "Nick", familyName: "Wilde" },
      emails: [{ primary: true, value: userName, type: "work" }],
      displayName: "Nick Wilde",
      locale: "en-US",
      externalId: uniqueName("00ujl29u0le5T6Aj10h7"),
      groups: [],
      password: "1mz050nq",
      active: true,
    };
    const created = await scim("POST", "/Users", profile);
    expect(created).toMatchObject({ status: 201, body: { userName, active: true } });
    const { id } = created.body;
    const replaced = await scim("PUT", `/Users/${id}`, { ...profile, id, displayName: "Nicholas Wilde" });
    expect(replaced).toMatchObject({ status: 200, body: { displayName: "Nicholas Wilde", active: true } });
    const off = await scim("PATCH", `/Users/${id}`, patch({ op: "replace", value: { active: false } }));
    expect(off).toMatchObject({ status: 200, body: { active: false } });
    const on = await scim("PUT", `/Users/${id}`, profile);
    expect(on.body.active).toBe(true);
    const all = await scim("GET", "/Users?startIndex=1&count=200");
    expect(all.body.itemsPerPage).toBe(Math.min(100, all.body.totalResults));
  });

  test("pushes a group with its members, and then others", async () => {
    const { scim } = directory;
    const [one, two] = [await newOne(), await newOne()];
    const displayName = uniqueName("Okta group");
    const members = [{ value: one, display: "one@acme.example" }];
    const { body } = await scim("POST", "/Groups", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      displayName,
      members,
    });
    const rename = { op: "replace", value: { id: body.id, displayName: `${displayName} 2` } };
    expect((await scim("PATCH", `/Groups/${body.id}`, patch(rename))).body.displayName).toBe(`${displayName} 2`);
    const replace = { op: "replace", path: "members", value: [{ value: two }] };
    await scim("PATCH", `/Groups/${body.id}`, patch(replace));
    expect(await membersOf(scim, body.id)).toEqual([two]);
  });
});

async function newOne(): Promise<string> {
  const userName = `${uniqueName("one")}@acme.example`;
  return (await directory.scim("POST", "/Users", { userName })).body.id;
}
