import { beforeAll, expect, test } from "vitest";
import { type Company, openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { startHostileService } from "./hostile-service.ts";
import { openTerminal } from "./terminal.ts";

let company: Company;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  const { url } = await sharedServer();
  company = await openCompany("Connect", await sharedServer());
  const { key } = await company.joinAs("owner", "olive");
  // The machine may be busy.
  env = { TENANTRY_URL: url, TENANTRY_API_KEY: key, TENANTRY_COMPLETION_MS: "60000" };
});

async function complete(line: string, settings = env): Promise<readonly string[]> {
  const terminal = await openTerminal({ env: settings });
  const { code, stdout, stderr } = await terminal.run(`__complete -- ${line}`);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter((each) => each !== "");
}

test("words are completed from the API, and names from the service", async () => {
  const org = company.org.name;
  expect(await complete("li")).toContain("list");
  expect(await complete("revoke-")).toEqual(["revoke-tokens"]);
  expect(await complete("chan")).toEqual(["changes"]);
  expect(await complete(`get orgs/${org}/mem`)).toEqual([`orgs/${org}/members`]);
  expect(await complete(`get orgs/${org}/members/o`)).toEqual([`orgs/${org}/members/olive`]);
  expect(await complete(`get --org ${org} members/o`)).toEqual(["members/olive"]);
  const [apiKey = "none"] = await complete(`get orgs/${org}/members/olive/apiKeys/`);
  expect(apiKey).toMatch(/apiKeys\/[\w@-]+$/);
  const typed = `orgs/${org}/members/olive/api-keys/`;
  expect(await complete(`get ${typed}`)).toEqual([apiKey.replace(/.*\//, typed)]);
  expect(await complete(`create orgs/${org}/roleBindings/x --role-path roles/own`)).toContain("roles/owner");
  expect(await complete("list orgs --show-")).toEqual(["--show-deleted"]);
  expect(await complete("create members/x --type AP")).toEqual(["APPLICATION"]);
  expect(await complete("list orgs --output y")).toEqual(["yaml"]);
});

test("without an answer nothing is completed, and nothing is said", async () => {
  const { url } = await startHostileService(() => undefined);
  expect(await complete("get orgs/ac", { ...env, TENANTRY_URL: url, TENANTRY_COMPLETION_MS: "" })).toEqual([]);
  expect(await complete("get orgs/ac", { TENANTRY_URL: "ftp://x" })).toEqual([]);
});

test.each(["bash", "zsh", "fish"])("there is a script for %s", async (shell) => {
  const { stdout } = await (await openTerminal()).run(`completion ${shell}`);
  expect(stdout).toContain("tenantry __complete --");
});
