import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { findProgram, programOf, serviceCommands } from "../../../bin/find-program.js";
import { contract } from "../../../gen/command-line.ts";
import { globalFlags } from "../../../src/cli/client/arguments/flags.ts";
import { exitCodes } from "../../../src/cli/client/command-error.ts";
import { commands, serviceCommands as described } from "../../../src/cli/client/commands/all-commands.ts";
import { helpTopics } from "../../../src/cli/client/commands/help-topics.ts";
import { flagsOf } from "../../../src/cli/client/commands/verb-command.ts";
import { verbsOf } from "../../../src/cli/client/contract/find-method.ts";
import { fieldsOf } from "../../../src/cli/client/contract/method-fields.ts";
import { flagOf } from "../../../src/cli/client/contract/names.ts";
import { openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { sendJson, startHostileService } from "./hostile-service.ts";
import { openTerminal } from "./terminal.ts";

const root = join(import.meta.dirname, "../../..");

test("no field has the flag of something else", () => {
  const others = new Set(globalFlags.map(({ name }) => name));
  for (const method of contract.methods) {
    const flags = fieldsOf(contract, method).map(flagOf);
    expect(flags.filter((flag) => others.has(flag))).toEqual([]);
    const own = flagsOf(contract, method).map(({ name }) => name);
    expect(own.filter((flag, index) => own.indexOf(flag) !== index)).toEqual([]);
  }
});

test("a command has the name of a verb only to stand for it", () => {
  const verbs = verbsOf(contract);
  expect(commands.map(({ name }) => name).filter((name) => verbs.includes(name))).toEqual([
    "check",
    "explain",
    "wait",
    "watch",
    "export",
    "plan",
    "apply",
    "rollback",
  ]);
  expect(serviceCommands.filter((name) => verbs.includes(name))).toEqual(["verify"]);
  expect(Object.keys(described).toSorted()).toEqual(serviceCommands.toSorted());
});

test("verify is of the service with a file, and a call with an event stream", async () => {
  const eventStreams = ["orgs/a/eventStreams/x", "/orgs/a/event-streams/x", "event-streams/@1"];
  expect(eventStreams.map((path) => programOf(["verify", path, "--state", "s"]))).toEqual(
    Array(3).fill("command line"),
  );
  for (const words of [["log.ndjson"], ["./eventStreams/x.ndjson"], ["--help"], []])
    expect(programOf(["verify", ...words])).toBe("service");
  expect([programOf(["serve"]), programOf(["list", "orgs"]), programOf([])]).toEqual([
    "service",
    "command line",
    "command line",
  ]);
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: "k" } });
  await terminal.run("--org a verify eventStreams/x --state s");
  expect(requests.map(({ line }) => line)).toEqual(["POST /iam/v1alpha/orgs/a/eventStreams/x:verify"]);
});

test("every method has its help, and the help of all commands fits a screen", async () => {
  const terminal = await openTerminal();
  const { stdout } = await terminal.run("--help");
  expect(stdout.split("\n").length).toBeLessThanOrEqual(24 + 1);
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  for (const verb of verbsOf(contract)) {
    const own = await terminal.run(`${verb} --help`);
    expect([own.code, own.stdout]).toEqual([0, expect.stringContaining(`tenantry ${verb}`)]);
  }
  for (const { name } of commands) expect((await terminal.run(`${name} --help`)).stdout).toContain(`tenantry ${name}`);
  expect((await terminal.run("create members --help")).stdout).toContain("--display-name TEXT");
  for (const topic of helpTopics.keys()) {
    expect(stdout).toContain(topic);
    const { code, stdout: help } = await terminal.run(`help ${topic}`);
    expect([code, Math.max(...help.split("\n").map(({ length }) => length))]).toEqual([0, expect.toSatisfy(fits)]);
  }
});

test("help on what is not there says what is", async () => {
  const terminal = await openTerminal();
  expect(await terminal.run("help exit-code")).toMatchObject({
    code: exitCodes.usage,
    stderr: expect.stringMatching(/there is no help on "exit-code"; did you mean exit-codes\?/),
  });
  for (const words of ["help", "help --org acme"]) expect((await terminal.run(words)).stdout).toContain("Commands:");
  expect((await terminal.run("help create members")).stdout).toContain("--display-name TEXT");
});

function fits(width: number): boolean {
  return width <= 120;
}

test("the exit codes of the help are those of its page", async () => {
  const terminal = await openTerminal();
  const help = (await terminal.run("help exit-codes")).stdout;
  const page = await readFile(join(root, "docs/command-line.md"), "utf8");
  const codesOf = (text: string, line: RegExp) => [...text.matchAll(line)].map(([, codes]) => codes);
  const listed = codesOf(page, /^\| (\d[\d, ]*?) \|/gm);
  expect(new Set(codesOf(help, /^ {2}(\d[\d, ]*?) {2}/gm))).toEqual(new Set(listed));
  expect(listed).toEqual(expect.arrayContaining(Object.values(exitCodes).map(String)));
});

test("a table is as wide as its first hundred lines need, however small the pages are", async () => {
  const names = ["al", "a-much-longer-name", "bo"];
  const { url } = await startHostileService(({ url: address = "" }, response) => {
    const at = Number(new URL(address, "http://service").searchParams.get("page_token") ?? "0");
    sendJson(response, { members: [{ name: names[at] }], next_page_token: at === 2 ? "" : String(at + 1) });
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: "k" } });
  const { stdout } = await terminal.run("list orgs/a/members --page-size 1 --columns name");
  expect(stdout).toBe(`NAME\n${names.join("\n")}\n`);
});

test("a test of a webhook that fails is a refusal", async () => {
  const states = ["FAILED", "DELIVERED"];
  const { url } = await startHostileService((_request, response) => sendJson(response, { state: states.shift() }));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: "k" } });
  expect((await terminal.run("test orgs/a/webhooks/w")).code).toBe(exitCodes.refused);
  expect((await terminal.run("test orgs/a/webhooks/w")).code).toBe(exitCodes.done);
});

test("what reads standard input is told of errors in words where somebody reads them", async () => {
  const env = { TENANTRY_URL: "http://127.0.0.1:1", TENANTRY_API_KEY: "k" };
  const terminal = await openTerminal({ env });
  const line = "create orgs/a/members/m -f -";
  const piped = await terminal.run(line, { isInteractive: false, input: "nme: m" });
  expect(piped.stderr).toMatch(/^error: /);
  expect((await terminal.run(line, { isTerminal: false, input: "nme: m" })).stderr).toMatch(/^\{"error":/);
});

test("the bundle is one file that runs alone, and has nothing of the service", async () => {
  const { modules } = JSON.parse(await readFile(join(root, "build/command-line.json"), "utf8")) as {
    modules: readonly string[];
  };
  const allowed =
    /^(src\/(cli\/client\/|(errors\/nearest-names|files\/(make-directory|server-address))\.ts$)|gen\/command-line\.ts$|package\.json$|\p{Cc})|(^|\/)node_modules\/yaml\//u;
  expect(modules.filter((path) => !allowed.test(path))).toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), "tenantry-alone-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const alone = join(folder, "tenantry.mjs");
  await copyFile(findProgram(root, "command line"), alone);
  const { url, operatorKey } = await sharedServer();
  const run = async (...words: readonly string[]) => {
    const env = { PATH: process.env["PATH"], HOME: folder, TENANTRY_URL: url, TENANTRY_API_KEY: operatorKey };
    return promisify(execFile)(process.execPath, [alone, ...words], { env, cwd: folder });
  };
  expect((await run("get", "orgs/system", "-o", "name")).stdout).toBe("/orgs/system\n");
  await expect(run("get", "orgs/nowhere")).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringContaining('{"error":{'),
  });
});

test("edit changes what was written, with the etag, and keeps what somebody else has changed meanwhile", async () => {
  const server = await sharedServer();
  const company = await openCompany("Connect", server);
  const { key } = await company.joinAs("owner", "olive");
  const env = { TENANTRY_URL: server.url, TENANTRY_API_KEY: key, TENANTRY_ORG: company.org.name };
  const terminal = await openTerminal({ env });
  const rewrite = (from: string, to: string) => async (file: string) => {
    await writeFile(file, (await readFile(file, "utf8")).replace(from, to));
  };
  const edited = await terminal.run("edit members/olive --output json", {
    edit: rewrite("labels: {}", "labels: {site: north}"),
  });
  expect(JSON.parse(edited.stdout)).toMatchObject({ display_name: "olive", labels: { site: "north" } });
  expect((await terminal.run("edit members/olive")).stderr).toBe("Nothing was changed.\n");
  const late = async (file: string): Promise<void> => {
    await terminal.run("update members/olive --description changed");
    await rewrite("display_name: olive", "display_name: Lost")(file);
  };
  expect(await terminal.run("edit members/olive", { edit: late })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/What you wrote is in .*has changed/s),
  });
  expect((await terminal.run("get members/olive --output json")).stdout).not.toContain("Lost");
});

test("watch prints changes as they are made, and goes on where it was interrupted", async () => {
  const server = await sharedServer();
  const company = await openCompany("Connect", server);
  const { key } = await company.joinAs("owner", "olive");
  const terminal = await openTerminal({ env: { TENANTRY_URL: server.url, TENANTRY_API_KEY: key } });
  const first = await terminal.run(`changes orgs/${company.org.name} --limit 1 --output json`, { isTerminal: false });
  const [{ revision }] = JSON.parse(first.stdout) as [{ revision: string }];
  const stopping = new AbortController();
  const watching = terminal.run(`watch orgs/${company.org.name} --after-revision ${revision}`, {
    signal: stopping.signal,
    onOutput: (text) => text.includes("/members/wanda") && stopping.abort(),
  });
  await company.join("wanda");
  const { stdout, stderr } = await watching;
  expect(stdout).toContain(`/orgs/${company.org.name}/members/wanda`);
  expect(stderr).toMatch(/^To go on: tenantry watch orgs\/\S+ --after-revision [\da-f-]+\n$/);
});
