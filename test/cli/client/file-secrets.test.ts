// A file of an org that says where the secret of an identity provider is.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type HostileService, sendJson, startHostileService } from "./hostile-service.ts";
import { openTerminal } from "./terminal.ts";

const fileOf = (org: string, secret: string): string =>
  [
    `org: ${org}`,
    "identity_providers:",
    "  - name: okta",
    "    issuer: https://acme.okta.example",
    "    client_id: tenantry",
    `    client_secret: ${secret}`,
    "",
  ].join("\n");

/** Starts a service that plans to create a provider, whatever it gets. */
function startPlanner(bodies: string[]): Promise<HostileService> {
  const changes = [{ action: "CREATE", resource_path: "/orgs/a/identityProviders/okta" }];
  return startHostileService((_request, response, body) => {
    bodies.push(body);
    sendJson(response, { plan: "p", changes });
  });
}

test("a plan needs no secret, and an apply reads it before it asks", async () => {
  const server = await sharedServer();
  const { org, joinAs, api } = await openCompany("Connect", server);
  const { key } = await joinAs("owner", "olive");
  const terminal = await openTerminal({ env: { TENANTRY_URL: server.url, TENANTRY_API_KEY: key } });
  const file = join(terminal.home, "acme.yaml");
  await writeFile(file, fileOf(org.name, "{env: OKTA_SECRET}"));
  const planned = await terminal.run(`plan ${file}`);
  expect([planned.code, planned.stdout]).toEqual([2, expect.stringContaining("identityProviders/okta")]);
  const unset = await terminal.run(`apply ${file}`, { answers: ["y"] });
  expect([unset.code, unset.stderr]).toEqual([
    64,
    expect.stringContaining("identity_providers[0].client_secret is in the variable OKTA_SECRET, which is not set"),
  ]);
  expect(unset.stderr).not.toContain("apply this to");
  const applied = await terminal.run(`apply ${file}`, { answers: ["y"], env: { OKTA_SECRET: "s3cret" } });
  expect([applied.code, applied.shown.includes("s3cret")]).toEqual([0, false]);
  expect(planned.stderr).toBe("");
  const again = await terminal.run(`plan ${file}`);
  expect([again.code, again.stderr]).toEqual([
    0,
    `A client_secret is used where its provider is created; to set another, send it as client_secret to tenantry update orgs/${org.name}/identityProviders/okta -f -\n`,
  ]);
  const { identityProviders } = await api.identityProviders.listIdentityProviders({ parentPath: org.path });
  expect(identityProviders.map(({ name }) => name)).toEqual(["okta"]);
});

test("what is sent is the text of the variable, or of the file without the end of its line", async () => {
  const bodies: string[] = [];
  const { url } = await startPlanner(bodies);
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: "k" } });
  const [file, secret] = [join(terminal.home, "a.yaml"), join(terminal.home, "secret")];
  await writeFile(secret, "from a file\n");
  for (const [text, sent] of [
    ["{env: OKTA_SECRET}", "from a variable"],
    [`{file: ${secret}}`, "from a file"],
    ["written out", "written out"],
  ] as const) {
    await writeFile(file, fileOf("a", text));
    bodies.length = 0;
    await terminal.run(`apply ${file} --yes`, { env: { OKTA_SECRET: "from a variable" } });
    const secrets = bodies.map((body) => /"client_secret":"([^"]*)"/.exec(body)?.[1]);
    expect(secrets).toEqual([text === sent ? sent : undefined, sent]);
  }
});

test.each([
  ["${OKTA_SECRET}", "must be {env: OKTA_SECRET} for a secret that is in the variable OKTA_SECRET"],
  ["$OKTA_SECRET", "must be {env: OKTA_SECRET}"],
  ["48151623", "must be a text in quotes, {env: NAME} or {file: PATH}, got a number"],
  ["{env: ''}", "must be {env: NAME} or {file: PATH}, got an object with env"],
  ["{vault: x}", "must be {env: NAME} or {file: PATH}"],
  ["{env: A, file: b}", "must be {env: NAME} or {file: PATH}"],
  ["{file: /nowhere/at/all}", "is in the file /nowhere/at/all, which is not there"],
  ["{file: /dev/null}", "is in the file /dev/null, which is empty"],
])("a place %s of a secret is refused, and nothing is applied", async (place, message) => {
  const { url, requests } = await startPlanner([]);
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: "k" } });
  const file = join(terminal.home, "a.yaml");
  await writeFile(file, fileOf("a", place));
  const refused = await terminal.run(`apply ${file} --yes`);
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining(message)]);
  expect(requests.filter(({ line }) => line.includes(":apply"))).toEqual([]);
});
