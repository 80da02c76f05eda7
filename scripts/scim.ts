// Runs scim2-tester and scim-sanity against SCIM of a service: does it keep the standard? `npm run scim`. Needs Python, and installs both
// into a virtual environment.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { withService } from "./with-service.ts";

const packages = ["scim2-tester==0.5.2", "scim2-client[httpx2]==0.13.2", "scim-sanity==0.7.4"];

/** What scim-sanity calls a failure: it adds a member that does not exist. */
const intended: ReadonlySet<string> = new Set(["PATCH /Groups/{id} add member"]);

interface Report {
  readonly results: readonly { readonly name: string; readonly status: string; readonly message?: string }[];
}

await withService(async ({ url, key, directory }) => {
  const call = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${url}/iam/v1alpha/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  await call("orgs", { name: "acme" });
  await call("orgs/acme/members", { name: "directory", type: "APPLICATION" });
  const memberPath = "/orgs/acme/members/directory";
  await call("orgs/acme/roleBindings", {
    role_path: "/roles/provisioner",
    subject_path: memberPath,
    name: "directory",
  });
  await call("orgs/acme/scimSources", { name: "directory", member_path: memberPath });
  const { secret } = await call("orgs/acme/members/directory/apiKeys", { name: "scim" });

  const run = (program: string, ...args: string[]): unknown => execFileSync(program, args, { stdio: "inherit" });
  const environment = join(directory, "venv");
  run("python3", "-m", "venv", environment);
  run(join(environment, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", ...packages);
  const scim = `${url}/scim/v2/orgs/acme`;
  run(join(environment, "bin/python"), join(import.meta.dirname, "scim.py"), scim, String(secret));
  const sanity = ["probe", scim, "--token", String(secret), "--i-accept-side-effects", "--json-output"];
  // It ends with 1 where anything fails.
  const { stdout, stderr } = spawnSync(join(environment, "bin/scim-sanity"), sanity, { encoding: "utf8" });
  const { results } = readReport(stdout, stderr);
  const failed = results.filter(({ name, status }) => status === "fail" && !intended.has(name));
  for (const { name, message } of failed) console.log(name, message ?? "");
  console.log(`scim-sanity: ${results.length} checks, ${failed.length} failed`);
  if (failed.length > 0 || results.length < 25)
    throw new Error("scim-sanity has found what is not as the standard says");
});

/** @throws Error with what the program has printed. */
function readReport(stdout: string, stderr: string): Report {
  try {
    return JSON.parse(stdout) as Report;
  } catch (cause) {
    throw new Error(`scim-sanity: ${stdout}${stderr}`, { cause });
  }
}
