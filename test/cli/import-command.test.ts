import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { Command } from "commander";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { addImportCommand } from "../../src/cli/import-command.ts";
import type { ImportTerminal } from "../../src/cli/import-organisation.ts";
import { readClientConfig } from "../../src/config.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { createTransport } from "../support/transports.ts";
import { importInto } from "./support/import-into.ts";
import { readOrg } from "./support/read-org.ts";
import { runTenantry, spawnTenantry } from "./support/spawn-tenantry.ts";
import { temporaryDirectory, temporaryFile } from "./support/temporary-file.ts";

const acme = join(import.meta.dirname, "../../examples/acme.yaml");

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const run = (args: string[], environment: Record<string, string> = {}, input = "") =>
  runTenantry(
    ["import", ...args],
    { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey, ...environment },
    input,
  );

/** Returns the program with the command, in this process, for the service of the tests. */
function createProgram(environment: Record<string, string> = {}, terminal?: ImportTerminal): Command {
  const program = new Command("tenantry").exitOverride().configureOutput({ writeErr: () => {} });
  const settings = { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey, ...environment };
  addImportCommand(program, () => readClientConfig(settings), terminal);
  return program;
}

/** Does what `run` does, without the third of a second that a process takes. */
async function runHere(args: readonly string[], environment?: Record<string, string>) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const terminal: ImportTerminal = {
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    exitCode: 0,
  };
  await createProgram(environment, terminal).parseAsync(["import", ...args], { from: "user" });
  return { code: terminal.exitCode, stdout: stdout.join(""), stderr: stderr.join("") };
}

describe("tenantry import", () => {
  test("imports a file, and finds nothing to do the second time", async () => {
    const first = await run([acme, "--org", "spawned"]);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining("members 8/8") as unknown });
    expect(first.stdout).toMatch(/^Imported spawned into http:\S+ in \d+\.\d s:$/m);
    expect(first.stdout).toMatch(/^ {2}memberships +9 +0$/m);
    expect(first.stdout).toMatch(/^ {2}role bindings +6 +0$/m);
    expect(first.stdout).toMatch(/^ {2}member {3}Zoe → zoe$/m);
    const second = await run([acme, "--org", "spawned"]);
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toMatch(
      /^Nothing to do: spawned is as the file says\.\n\n {2}1 org, 8 members, 5 groups, 3 projects, 3 subgroups, 9 memberships, 4 roles, 6 role bindings$/m,
    );
  });

  test("reports the plan with --dry-run, and changes nothing", async () => {
    const { code, stdout } = await runHere([acme, "--org", "dry", "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Dry run: nothing was changed\./);
    expect(stdout).toMatch(/^ {2}members +0 +8$/m);
    await expect(readOrg(server.databaseUrl, "dry")).rejects.toThrow("there is no org dry");
  });

  test("refuses members of groups that are not in the file, unless they may be skipped, and reports renamed names, skipped memberships and repeated entries", async () => {
    const members = Array.from({ length: 25 }, (_, index) => `Member${index}`);
    const groups = [{ name: "g", members: ["mallory", "member1", "Member1"] }];
    const file = await temporaryFile("org.json", JSON.stringify({ org: "reported", members, groups }));
    const refused = await run([file]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(
      'has a problem:\n  groups[0].members[0]: there is no member "mallory" in the file; list it in members, or import with --skip-unknown-members\n',
    );
    await expect(readOrg(server.databaseUrl, "reported")).rejects.toThrow("there is no org reported");
    const { code, stdout } = await runHere([file, "--dry-run", "--skip-unknown-members"]);
    expect(code).toBe(0);
    expect(stdout).toContain("25 names had to change");
    expect(stdout).toContain("  member   Member19 → member19\n  … and 5 more; --verbose shows all\n");
    expect(stdout).toContain(
      "1 membership skipped, because the member is in neither members nor admins:\n  mallory in g\n",
    );
    expect(stdout).toContain("1 entry repeated another one and counted once.\n");
    expect((await runHere([file, "--dry-run", "--verbose", "--skip-unknown-members"])).stdout).toContain(
      "  member   Member24 → member24\n",
    );
  });

  describe("to an organisation that is not as the file says", () => {
    const org = "drifted";
    const before = {
      org,
      admins: ["ann", "bob"],
      members: ["carol", { name: "dave", display_name: "Dave" }, { name: "bot", type: "application" }],
      groups: [
        { name: "all" },
        { name: "some", parent: "all", members: ["carol", "dave"] },
        { name: "old", members: ["ann"] },
      ],
      projects: ["shop", "attic"],
      grants: [
        { group: "some", project: "shop", role: "read" },
        { group: "some", project: "attic", role: "write" },
      ],
    };
    // No longer an owner: bob; gone: the group old with its member, and the project attic with its grant; moved: some;
    // changed: a role, a display name, a type.
    const after = {
      org,
      display_name: "Drifted Ltd",
      admins: ["ann"],
      members: ["bob", "carol", { name: "dave", display_name: "David" }, "bot"],
      groups: [
        { name: "all", parent: "top" },
        { name: "top" },
        { name: "some", parent: "top", members: ["carol", "dave"] },
      ],
      projects: ["shop"],
      grants: [{ group: "some", project: "shop", role: "write" }],
    };
    const differences = `16 differences from the file stay: an import creates what is missing; it changes and deletes nothing.

orgs with other values than in the file: 1
  drifted: display_name is "drifted", not "Drifted Ltd"

members with other values than in the file: 2
  bot: type is "APPLICATION", not "USER"
  dave: display_name is "Dave", not "David"

groups that are not in the file: 1
  old

projects that are not in the file: 1
  attic

subgroups that are not in the file: 1
  some in all

memberships that are not in the file: 1
  ann in old

memberships with other values than in the file: 1
  dave in some: expire_time is "2100-01-01T00:00:00.000Z", not empty

roles that are not in the file: 1
  read

roles with other values than in the file: 1
  write: permissions also has acme.anvils.forge; permissions lacks repos.access.read, repos.access.write

role bindings that are not in the file: 4
  group some has the role read on the project shop (some-read)
  group some has the role viewer on the org (lookers)
  group some has the role write on the project attic (some-write)
  member bob has the role owner on the org (bob-owner)

role bindings with other values than in the file: 2
  group some has the role write on the project shop (some-write): condition is "resource.labels.site == 'north'", not empty
  member ann has the role owner on the org (ann-owner): start_time is "2020-01-01T00:00:00.000Z", not empty
`;

    beforeAll(async () => {
      await run(["-"], {}, JSON.stringify(before));
      const transport = createTransport("Connect", server.url, server.operatorKey);
      const bindings = createClient(RoleBindingsService, transport);
      const inOrg = `/orgs/${org}`;
      const role = { permissions: ["repos.access.triage", "acme.anvils.forge"] };
      await createClient(RolesService, transport).updateRole({ path: `${inOrg}/roles/write`, role });
      await createClient(GroupMembersService, transport).updateGroupMember({
        path: `${inOrg}/groups/some/members/dave`,
        groupMember: { expireTime: timestampFromDate(new Date("2100-01-01")) },
      });
      await bindings.updateRoleBinding({
        path: `${inOrg}/roleBindings/ann-owner`,
        roleBinding: { startTime: timestampFromDate(new Date("2020-01-01")) },
      });
      const subjectPath = `${inOrg}/groups/some`;
      const lookers = { name: "lookers", rolePath: "/roles/viewer", subjectPath };
      await bindings.createRoleBinding({ parentPath: inOrg, roleBinding: lookers });
      const condition = "resource.labels.site == 'north'";
      const write = { name: "some-write", rolePath: `${inOrg}/roles/write`, subjectPath, condition };
      await bindings.createRoleBinding({ parentPath: `${inOrg}/projects/shop`, roleBinding: write });
    });

    test("lists every difference, with --dry-run too, and exits with 2 if --strict", async () => {
      const { revision } = await readOrg(server.databaseUrl, org);
      const dry = await run(["-", "--dry-run", "--strict"], {}, JSON.stringify(after));
      expect(dry).toMatchObject({ code: 2, stderr: "" });
      expect(dry.stdout.slice(dry.stdout.indexOf("16 differences"))).toBe(differences);
      expect((await readOrg(server.databaseUrl, org)).revision).toBe(revision);

      const file = await temporaryFile("after.json", JSON.stringify(after));
      const first = await runHere([file]);
      expect(first.code).toBe(0);
      expect(first.stdout.slice(first.stdout.indexOf("16 differences"))).toBe(differences);
      const second = await runHere([file, "--strict"]);
      expect(second).toMatchObject({ code: 2, stderr: "" });
      expect(second.stdout).toMatch(/^Nothing to create, but drifted is not as the file says\.\n/);
      expect(second.stdout.slice(second.stdout.indexOf("16 differences"))).toBe(differences);
    });

    test("counts skipped memberships with --strict", async () => {
      const group = { name: "g", members: ["mallory"] };
      const file = await temporaryFile("org.json", JSON.stringify({ org: "lacking", groups: [group] }));
      const result = await runHere([file, "--strict", "--skip-unknown-members"]);
      expect(result).toMatchObject({ code: 2, stdout: expect.stringContaining("1 membership skipped") as unknown });
    });
  });

  test("reads JSON and YAML from standard input", async () => {
    expect(await run(["-", "--strict"], {}, '\n {"org": "piped", "members": ["ann"]}')).toMatchObject({ code: 0 });
    const yaml = await run(["-", "--strict"], {}, "# The same.\norg: piped\nmembers: [ann]\n");
    expect(yaml).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to do: piped is as/) as unknown });
    const broken = await run(["-"], {}, "org: [piped\n");
    expect(broken).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^standard input is not valid YAML\n/) as unknown,
    });
  });

  test("reads the operator's key from the data directory, but prefers --key-file", async () => {
    const TENANTRY_DATA = join(await temporaryDirectory(), "data");
    await mkdir(TENANTRY_DATA);
    await writeFile(join(TENANTRY_DATA, "operator-key"), `${server.operatorKey}\n`);
    const fromData = await runTenantry(["import", acme, "--dry-run", "--server", `${server.url}/`], { TENANTRY_DATA });
    expect(fromData.code).toBe(0);
    const keyFile = join(TENANTRY_DATA, "operator-key");
    // As it was called before.
    const byUrl = await runTenantry(["import", acme, "--dry-run", "--url", server.url], { TENANTRY_DATA });
    expect(byUrl).toMatchObject({ code: 0, stdout: fromData.stdout });
    expect((await runHere([acme, "--dry-run", "--key-file", keyFile], { TENANTRY_API_KEY: "wrong" })).code).toBe(0);
  });

  test("stops after the requests in flight when it is interrupted, and resumes on the next run", async () => {
    // Their memberships take 6 requests, one after the other.
    const members = Array.from({ length: 150 }, (_, index) => `m${index}`);
    const groups = Array.from({ length: 20 }, (_, index) => ({ name: `g${index}`, members }));
    const memberships = members.length * groups.length;
    const file = await temporaryFile("org.json", JSON.stringify({ org: "interrupted", members, groups }));
    let batches = 0;
    // Interrupts it while its second batch of memberships is on its way, however slow the machine is.
    const proxy = await startSilentProxy(server.url, 0, () => ({
      fromClient(bytes) {
        if (bytes.includes("/BatchCreateGroupMembers ") && ++batches === 2) command.process.kill("SIGINT");
      },
      fromServer: () => {},
    }));
    onTestFinished(() => proxy.close());
    const environment = { TENANTRY_URL: proxy.url, TENANTRY_API_KEY: server.operatorKey };
    const command = spawnTenantry(["import", file, "--concurrency", "1"], environment);
    expect(await command.exit).toBe(130);
    expect(command.stdout()).toMatch(/^Imported part of interrupted /);
    expect(command.stderr()).toContain(
      "Stopped. The resources created so far are kept; run the same command again to continue.",
    );
    // The report matches what was created.
    const [, created, missing] = /^ {2}memberships +(\d+) +0 +(\d+)$/m.exec(command.stdout()) ?? [];
    expect(Number(created) + Number(missing)).toBe(memberships);
    expect((await readOrg(server.databaseUrl, "interrupted")).memberships).toHaveLength(Number(created));
    const rest = await runHere([file]);
    expect(rest.stdout).toMatch(new RegExp(`^ {2}memberships +${missing} +${created}$`, "m"));
    expect((await readOrg(server.databaseUrl, "interrupted")).changes).toBe(171 + memberships);
  });
});

test.each<[args: string[], message: string]>([
  [["import"], "missing required argument 'file'"],
  [["import", acme, "--dryrun"], "unknown option '--dryrun' (Did you mean --dry-run?)"],
])("explains wrong usage in two lines: %j", async (args, message) => {
  expect(await runTenantry(args)).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: ${message}\nRun it with --help to see what it accepts.\n`,
  });
});

/** Returns what a promise is rejected with. */
const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error("it has succeeded"),
    (error: unknown) => error as Error,
  );

describe("exits with 1 and helpful advice when", () => {
  test.each<[what: string, args: string[], environment: Record<string, string>, message: RegExp]>([
    ["the file does not exist", ["no-such-file.yaml"], {}, /^there is no file no-such-file\.yaml$/],
    ["the concurrency is too high", [acme, "--concurrency", "65"], {}, /must be a whole number from 1 to 64/],
    ["a variable is mistyped", [acme], { TENANTRY_ULR: "http://localhost" }, /^TENANTRY_ULR is not a setting/],
  ])("%s", async (_what, args, environment, message) => {
    const { code, stdout, stderr } = await run(args, environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(message.source, "m"));
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stderr).not.toContain(server.operatorKey);
  });

  // The command prints the messages of errors, as shown above.
  test.each<[what: string, args: string[], environment: Record<string, string>, message: RegExp]>([
    [
      "the key is wrong",
      [acme],
      { TENANTRY_API_KEY: "wrong" },
      /refuses the API key from TENANTRY_API_KEY: .* Give another one with --key-file/,
    ],
    [
      "the key file is missing",
      [acme, "--key-file", "nowhere/key"],
      {},
      /^No API key: there is no file nowhere\/key\. .* --key-file/,
    ],
    ["the key file holds something else", [acme, "--key-file", acme], {}, /acme\.yaml does not hold an API key/],
    [
      "the address is not a URL",
      [acme, "--server", "localhost:8080"],
      {},
      /^--server must be a URL such as http:\/\/localhost:8080/,
    ],
    [
      "the address is given twice",
      [acme, "--url", "http://a", "--server", "http://b"],
      {},
      /'--url <url>' cannot be used with option '--server <url>'/,
    ],
    [
      "the host is unknown",
      [acme, "--server", "http://nowhere.invalid"],
      {},
      /^No service answers at .* Start one with "npm start" or "tenantry serve"/,
    ],
    ["the name is invalid", [acme, "--org", "Acme Ltd"], {}, /A name is 1 to 64 lowercase letters/],
  ])("%s", async (_what, args, environment, message) => {
    const error = await errorOf(createProgram(environment).parseAsync(["import", ...args], { from: "user" }));
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain(server.operatorKey);
  });

  test("the file is invalid", async () => {
    const { code, stderr } = await run([await temporaryFile("org.yaml", "org: acme\nmembers: [alice\n")]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/org\.yaml is not valid YAML\n {2}.* line 3, column 1/);
  });

  test("the service rejects a request", async () => {
    const groups = [{ name: "platform" }, { name: "engineering", parent: "platform" }];
    await importInto(server, acme, { org: "refused" });
    const { code, stderr } = await run([await temporaryFile("org.json", JSON.stringify({ org: "refused", groups }))]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Creating \/orgs\/refused\/groups\/platform\/subgroups\/engineering failed\. The service at http:\S+ answers FAILED_PRECONDITION: .* cannot be nested in .* \(request [0-9a-f-]+\)\nThe resources created so far are kept; run the same command again to continue\.$/m,
    );
  });

  test("the service is addressed over TLS, which it does not speak", async () => {
    const { code, stderr } = await run([acme, "--server", server.url.replace("http:", "https:")]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^What answers at https:\S+ does not speak TLS \(EPROTO\)\. Give its address with http:/m);
  });

  test("the server does not serve the API", async () => {
    const { code, stderr } = await run([acme, "--server", `${server.url}/elsewhere`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The server at \S+\/elsewhere does not serve the Tenantry API \(/m);
  });

  test("it is interrupted while it waits for a server; then the exit code is 130", async () => {
    const {
      process: child,
      stderr,
      exit,
    } = spawnTenantry(["import", acme, "--server", "http://127.0.0.1:1"], {
      TENANTRY_API_KEY: "any",
    });
    await expect.poll(stderr).toContain("trying again");
    child.kill("SIGINT");
    expect(await exit).toBe(130);
    expect(stderr()).toMatch(/Stopped; nothing was changed\.\n$/);
  });

  test("no server is running, after it has tried for some seconds", async () => {
    const { code, stderr } = await run([acme, "--server", "http://127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(stderr.split("\n")).toEqual([
      "The service at http://127.0.0.1:1 does not answer (ECONNREFUSED); trying again.",
      expect.stringMatching(
        /^No service answers at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)\. Start one with/,
      ) as unknown,
      "",
    ]);
  });
});
