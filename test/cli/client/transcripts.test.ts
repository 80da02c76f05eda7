// What a person sees. Read the files in transcripts/: they are the command line.
import { createClient } from "@connectrpc/connect";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { ProviderService } from "../../../gen/resources/v1alpha/provider_pb.ts";
import { callsOf, openConsent } from "../../api/consent.ts";
import { type Company, openCompany } from "../../access/callers.ts";
import { createProvidedType } from "../../support/provided-type.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { sharedTokenServers } from "../../support/token-servers.ts";
import { startHostileService } from "./hostile-service.ts";
import { openTerminal, transcribe } from "./terminal.ts";

let company: Company;
let url: string;
let key: string;
beforeAll(async () => {
  const server = await sharedServer();
  ({ url } = server);
  company = await openCompany("Connect", server);
  ({ key } = await company.joinAs("owner", "olive"));
});

const environment = () => ({ TENANTRY_URL: url, TENANTRY_API_KEY: key, TENANTRY_ORG: company.org.name });
const names = () => ({ [company.org.name]: "acme", [url]: "http://localhost:8080" });

test("somebody begins with the help, and does real work", async () => {
  const terminal = await openTerminal({ env: environment() });
  const lines = [
    "--help",
    "whoami",
    "create members/dora --display-name 'Dora M.' --label site=north",
    "create groups/sre --display-name 'Site reliability' --output yaml",
    "create groups/sre/members/dora --expire-time 365d --output json",
    "create projects/web --output name",
    "create projects/web/roleBindings/sre-edits --role-path roles/editor --subject-path groups/sre --output name",
    "check members/dora iam.projects.update projects/web",
    "explain members/dora iam.projects.update projects/web",
    "who-may iam.projects.update projects/web",
    "update members/dora --label team=sre --label site- --output json",
    "list members",
    "list groups/-/members --output csv --columns path,member_path",
    ["delete groups/sre/members/dora", { answers: ["n"] }],
    ["delete groups/sre/members/dora", { answers: ["y"] }],
    "list groups/sre/members",
    "suspend members/dora --output name",
    "list members --filter 'state = SUSPENDED' --output name",
    "changes --limit 2 --columns type,resource_path",
    "changes --limit 6",
    "api GET me --output yaml",
  ] as const;
  const text = await transcribe(terminal, lines, names());
  await expect(text).toMatchFileSnapshot("transcripts/work.txt");
});

test("somebody asks who might do what before a binding was deleted", async () => {
  const past = await openCompany("Connect", await sharedServer());
  const { key: ownKey } = await past.joinAs("owner", "olive");
  const { path } = await past.api.members.createMember({ parentPath: past.org.path, member: { name: "dora" } });
  const roleBinding = { name: "dora-edits", rolePath: "/roles/editor", subjectPath: path };
  await past.api.roleBindings.createRoleBinding({ parentPath: past.org.path, roleBinding });
  await past.api.projects.createProject({ parentPath: past.org.path, project: { name: "web" } });
  const terminal = await openTerminal({
    env: { ...environment(), TENANTRY_API_KEY: ownKey, TENANTRY_ORG: past.org.name },
  });
  const { stdout } = await terminal.run("check members/dora iam.projects.update --output json");
  const { revision } = JSON.parse(stdout) as { revision: string };
  const lines = [
    "delete roleBindings/dora-edits --yes",
    "check members/dora iam.projects.update",
    `check members/dora iam.projects.update --as-of ${revision}`,
    `explain members/dora iam.projects.update --as-of ${revision}`,
    `who-may iam.projects.update --as-of ${revision}`,
    `what-may members/dora iam.projects.update --as-of ${revision}`,
    `get roleBindings/dora-edits --as-of ${revision} --columns name,role_path`,
    `list projects --as-of ${revision} --columns path`,
    "list projects --columns path --as-of yesterday",
    "list clients --as-of 2d",
    "list projects --as-of 1999-12-31",
    "what-may members/dora iam.projects.update --as-of 1999-12-31",
    "rollback --to 1999-12-31 --dry-run",
    "rollback --to 1s --dry-run --output yaml",
    "check members/dora iam.projects.update --as-of 1970-01-01T00:00:00+00:00x",
    "check members/dora iam.projects.update --as-of 2999-01-01",
  ];
  const shown = {
    [past.org.name]: "acme",
    [url]: "http://localhost:8080",
    [revision]: "00000000-0000-0732-9f3c-5b21c7e40d18",
  };
  await expect(await transcribe(terminal, lines, shown)).toMatchFileSnapshot("transcripts/past.txt");
});

test("a mistake in each argument is answered in a line, with what to run next", async () => {
  const terminal = await openTerminal({ env: environment() });
  const lines = [
    "lsit members",
    "list",
    "list member",
    "list orgs/acme/memebers/alice/apikeys",
    "create member/dora --display-name Dora",
    "create groups/none/members/olive",
    "get members",
    "list members/olive",
    "suspend groups/sre",
    "list members --fliter x",
    "list members --filter",
    "list members --filter 'name ='",
    "list members --columns name,stat",
    "list members --columns name --output yaml",
    ["list members --columns name", { isTerminal: false }],
    "list members --limit none",
    "who-may iam.members.list --limit none",
    "list members --output xml",
    "create members/Dora",
    "create members/olive",
    "create members/d --type aplication",
    "create members/d --label site",
    "create groups/x --expire-time 3d",
    "create groups/sre/members/olive --expire-time tomorrow",
    "create groups/sre/members/olive --expire-time 2026-02-31",
    "update members/olive",
    "update members/olive --display-name a --display-name b",
    "update members/olive --file none.yaml",
    ["update members/olive --file -", { input: "- a" }],
    "update members/olive --clear stat",
    "get members/nobody",
    "get orgs/acme/../x",
    "check olive",
    "config us x",
    "serve",
    "--server ftp://x list members",
    "--server http://iam.example.com list members",
    ["list members", { env: { TENANTRY_API_KEY: "tenantry_wrong" } }],
    ["list members", { env: { TENANTRY_API_KEY: undefined } }],
    ["list members", { env: { TENANTRY_API_KEY: "" } }],
    ["changes acme", { env: { TENANTRY_ORG: "" } }],
    ["list members --profile none", {}],
    "grant viewer olive",
    ["lsit members", { isTerminal: false }],
    ["get members/nobody", { isTerminal: false }],
    ["delete members/olive", { isTerminal: false }],
  ] as const;
  await expect(await transcribe(terminal, lines, names())).toMatchFileSnapshot("transcripts/mistakes.txt");
});

test("a refusal says why, and who can help", async () => {
  const viewer = await company.joinAs("viewer", "vera");
  const terminal = await openTerminal({ env: { ...environment(), TENANTRY_API_KEY: viewer.key } });
  const lines = [
    "update members/olive --display-name Mallory",
    "explain me iam.members.update orgs/acme".replace("acme", company.org.name),
    "check me iam.members.update",
    "check members/vera iam.projects.update projects/wbe",
    "check groups/nobody iam.projects.update",
  ];
  const { key: without } = await company.join("nora");
  const asNora = { env: { TENANTRY_API_KEY: without } };
  const more = [
    ["list members", asNora],
    ["create projects/web/roleBindings/x --role-path roles/viewer", asNora],
    ["check me iam.members.list projects/web", asNora],
    ["explain me iam.members.list", asNora],
    ["list customers", asNora],
  ] as const;
  await expect(await transcribe(terminal, [...lines, ...more], names())).toMatchFileSnapshot("transcripts/refusal.txt");
});

test("a list is read page by page, and ends where it should", async () => {
  const terminal = await openTerminal({ env: environment() });
  await terminal.run("create groups/pages");
  for (const name of ["p1", "p2", "p3", "p4", "p5"]) await terminal.run(`create groups/page-${name}`);
  const lines = [
    "list groups --page-size 2 --filter 'name:page-*' --order-by 'name desc'",
    "list groups --page-size 2 --limit 3 --filter 'name:page-*' --output name",
    "list groups --filter 'name = none'",
    ["list groups --filter 'name = none'", { isTerminal: false }],
    ["list groups --page-size 2 --limit 3 --filter 'name:page-*' --columns name --output csv", { isTerminal: false }],
  ] as const;
  await expect(await transcribe(terminal, lines, names())).toMatchFileSnapshot("transcripts/paging.txt");
});

test("an operation is waited for, with its progress", async () => {
  const { servicePath, typePath } = await createProvidedType(company.api);
  await company.api.projects.createProject({ parentPath: company.org.path, project: { name: "things" } });
  const provider = createClient(ProviderService, company.api.transport);
  const terminal = await openTerminal({ env: environment() });
  /** Claims the operation once the person waits, says how far it is, and carries it out or fails. */
  const workAs = (end: "complete" | "fail") => {
    let isClaimed = false;
    return (text: string): void => {
      if (isClaimed || !text.includes("PENDING")) return;
      isClaimed = true;
      void provider.claimOperations({ servicePath, maxOperations: 1 }).then(async ({ claims: [claim] }) => {
        const of = { servicePath, operationPath: claim?.operation?.path ?? "", claimToken: claim?.claimToken ?? "" };
        if (end === "complete") return provider.completeOperation(of);
        return provider.failOperation({ ...of, reason: "NO_CAPACITY", message: "Zone a is full." });
      });
    };
  };
  const lines = [
    [
      `create projects/things/resources/one --type-path ${typePath} --columns verb,state`,
      { onOutput: workAs("complete") },
    ],
    ["list projects/things/resources --columns name,state", {}],
    ["delete projects/things/resources/one --yes --columns verb,state,error.message", { onOutput: workAs("fail") }],
  ] as const;
  const text = await transcribe(terminal, lines, { ...names(), [servicePath.slice(1)]: "services/things" });
  // How often progress is shown depends on the machine.
  await expect(text.replaceAll(/(\r\p{Cc}\[K\[[^\r]*)+\r\p{Cc}\[K/gu, "[...progress...]\n")).toMatchFileSnapshot(
    "transcripts/operation.txt",
  );
  const { resources } = await createClient(ResourcesService, company.api.transport).listResources({
    parentPath: `${company.org.path}/projects/things`,
  });
  expect(resources).toHaveLength(1);
});

/** Starts a proxy of a service, which is its issuer: that of the service in tests is at no address. */
async function standBefore(origin: string) {
  const proxy = await startHostileService((request, response, body) => {
    const { authorization = "", "content-type": type = "" } = request.headers;
    const { method = "" } = request;
    const headers = { ...(authorization && { authorization }), ...(type && { "content-type": type }) };
    void fetch(`${origin}${request.url}`, { method, headers, ...(body && { body }) }).then(async (answer) => {
      const json = (await answer.text()).replace(/"issuer":"[^"]*"/, `"issuer":"${proxy.url}"`);
      response.writeHead(answer.status, { "content-type": "application/json" }).end(json);
    });
  });
  return proxy;
}

test("somebody signs in with a browser, has a profile, and signs out", async () => {
  const consent = await openConsent(await sharedTokenServers());
  onTestFinished(() => consent.close());
  const { decide } = callsOf(() => consent);
  const server = await standBefore(consent.servers[0].url);
  const openBrowser = async (address: string): Promise<void> => {
    const answer = await decide(new URL(address).search.slice(1));
    const location = new URL(answer.headers.get("location") ?? "");
    location.searchParams.set("iss", server.url);
    const page = await fetch(location);
    expect(await page.text()).toContain("You are signed in");
  };
  const terminal = await openTerminal({ openBrowser });
  const path = consent.member.path;
  const [, , org = "", , member = ""] = path.split("/");
  const lines = [
    `login --server ${server.url}`,
    "config --output yaml",
    "whoami",
    "config set project web",
    "config --output csv",
    "list members --output name",
    "logout",
    "whoami",
  ];
  const text = await transcribe(terminal, lines, {
    [server.url]: "http://localhost:8080",
    [encodeURIComponent(server.url)]: "...",
    [org]: "acme",
    [member]: "alice",
    [terminal.home]: "~",
  });
  await expect(text).toMatchFileSnapshot("transcripts/login.txt");
});
