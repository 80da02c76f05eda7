import { Command } from "commander";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addImportCommand } from "../../src/cli/import-command.ts";
import { readClientConfig } from "../../src/config.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { readOrg } from "./support/read-org.ts";
import { runTenantry, spawnTenantry } from "./support/spawn-tenantry.ts";
import { temporaryDirectory, temporaryFile } from "./support/temporary-file.ts";

const acme = join(import.meta.dirname, "../../examples/acme.yaml");

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** For polls that can take long on a busy machine. */
const patience = { timeout: 20_000 };

/** Returns the number of members, or 0 if the org does not exist yet. */
const countMembers = (org: string) =>
  readOrg(server.databaseUrl, org).then(
    ({ members }) => members.length,
    () => 0,
  );

const run = (args: string[], environment: Record<string, string> = {}) =>
  runTenantry(["import", ...args], {
    TENANTRY_URL: server.url,
    TENANTRY_API_KEY: server.operatorKey,
    ...environment,
  });

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
      /^Nothing to do: spawned already has everything in the file\.\n\n {2}1 org, 8 members, 5 groups, 3 projects, 3 subgroups, 9 memberships, 4 roles, 6 role bindings$/m,
    );
  });

  test("reports the plan with --dry-run, and changes nothing", async () => {
    const { code, stdout } = await run([acme, "--org", "dry", "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Dry run: nothing was changed\./);
    expect(stdout).toMatch(/^ {2}members +0 +8$/m);
    await expect(readOrg(server.databaseUrl, "dry")).rejects.toThrow("there is no org dry");
  });

  test("reports renamed names, skipped memberships and repeated entries", async () => {
    const members = Array.from({ length: 25 }, (_, index) => `Member${index}`);
    const groups = [{ name: "g", members: ["mallory", "member1", "Member1"] }];
    const file = await temporaryFile("org.json", JSON.stringify({ org: "reported", members, groups }));
    const { stdout } = await run([file, "--dry-run"]);
    expect(stdout).toContain("25 names had to change");
    expect(stdout).toContain("  member   Member19 → member19\n  … and 5 more; --verbose shows all\n");
    expect(stdout).toContain(
      "1 membership skipped, because the member is in neither members nor admins:\n  mallory in g\n",
    );
    expect(stdout).toContain("1 entry repeated another one and counted once.\n");
    expect((await run([file, "--dry-run", "--verbose"])).stdout).toContain("  member   Member24 → member24\n");
  });

  test("reads the operator's key from the data directory, but prefers --key-file", async () => {
    const TENANTRY_DATA = join(await temporaryDirectory(), "data");
    await mkdir(TENANTRY_DATA);
    await writeFile(join(TENANTRY_DATA, "operator-key"), `${server.operatorKey}\n`);
    const fromData = await runTenantry(["import", acme, "--dry-run", "--url", `${server.url}/`], { TENANTRY_DATA });
    expect(fromData.code).toBe(0);
    const keyFile = join(TENANTRY_DATA, "operator-key");
    expect((await run([acme, "--dry-run", "--key-file", keyFile], { TENANTRY_API_KEY: "wrong" })).code).toBe(0);
  });

  test(
    "stops after the requests in flight when it is interrupted, and resumes on the next run",
    { timeout: 90_000 },
    async () => {
      const members = Array.from({ length: 300 }, (_, index) => `m${index}`);
      const file = await temporaryFile("org.json", JSON.stringify({ org: "interrupted", members }));
      const environment = { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey };
      const command = spawnTenantry(["import", file], environment);
      await expect.poll(() => countMembers("interrupted"), patience).toBeGreaterThan(5);
      command.process.kill("SIGINT");
      expect(await command.exit).toBe(130);
      expect(command.stdout()).toMatch(/^Imported part of interrupted /);
      expect(command.stderr()).toContain(
        "Stopped. The resources created so far are kept; run the same command again to continue.",
      );
      // The report matches what was created.
      const [, created, missing] = /^ {2}members +(\d+) +0 +(\d+)$/m.exec(command.stdout()) ?? [];
      expect(Number(created) + Number(missing)).toBe(300);
      expect((await readOrg(server.databaseUrl, "interrupted")).members).toHaveLength(Number(created));
      const rest = await run([file]);
      expect(rest.stdout).toMatch(new RegExp(`^ {2}members +${missing} +${created}$`, "m"));
      expect((await readOrg(server.databaseUrl, "interrupted")).changes).toBe(301);
    },
  );
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
      [acme, "--url", "localhost:8080"],
      {},
      /^--url must be a URL such as http:\/\/localhost:8080/,
    ],
    [
      "the host is unknown",
      [acme, "--url", "http://nowhere.invalid"],
      {},
      /^No service answers at .* Start one with "tenantry serve"/,
    ],
    ["the name is invalid", [acme, "--org", "Acme Ltd"], {}, /A name is 1 to 64 lowercase letters/],
  ])("%s", async (_what, args, environment, message) => {
    const program = new Command("tenantry").exitOverride().configureOutput({ writeErr: () => {} });
    addImportCommand(program, () =>
      readClientConfig({ TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey, ...environment }),
    );
    const error = await errorOf(program.parseAsync(["import", ...args], { from: "user" }));
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
    await run([acme, "--org", "refused"]);
    const { code, stderr } = await run([await temporaryFile("org.json", JSON.stringify({ org: "refused", groups }))]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Creating \/orgs\/refused\/groups\/platform\/subgroups\/engineering failed\. The service at http:\S+ answers FAILED_PRECONDITION: .* cannot be nested in .* \(request [0-9a-f-]+\)\nThe resources created so far are kept; run the same command again to continue\.$/m,
    );
  });

  test("the server does not serve the API", async () => {
    const { code, stderr } = await run([acme, "--url", `${server.url}/elsewhere`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The server at \S+\/elsewhere does not serve the Tenantry API \(/m);
  });

  test("it is interrupted while it waits for a server; then the exit code is 130", async () => {
    const {
      process: child,
      stderr,
      exit,
    } = spawnTenantry(["import", acme, "--url", "http://127.0.0.1:1"], {
      TENANTRY_API_KEY: "any",
    });
    await expect.poll(stderr, patience).toContain("trying again");
    child.kill("SIGINT");
    expect(await exit).toBe(130);
    expect(stderr()).toMatch(/Stopped; nothing was changed\.\n$/);
  });

  test("no server is running, after it has tried for some seconds", async () => {
    const { code, stderr } = await run([acme, "--url", "http://127.0.0.1:1"]);
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
