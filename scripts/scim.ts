// Runs scim2-tester and scim-sanity against SCIM of a service: does it keep the standard? `npm run scim`. Needs Python, and installs both
// into a virtual environment.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { withService } from "./with-service.ts";

const packages = ["scim2-tester==0.5.2", "scim2-client[httpx2]==0.13.2", "scim-sanity==0.7.4"];

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
  await call("orgs/acme/roleBindings", { role_path: "/roles/provisioner", subject_path: memberPath, name: "directory" });
  await call("orgs/acme/scimSources", { name: "directory", member_path: memberPath });
  const { secret } = await call("orgs/acme/members/directory/apiKeys", { name: "scim" });

  const run = (program: string, ...args: string[]): unknown => execFileSync(program, args, { stdio: "inherit" });
  const environment = join(directory, "venv");
  run("python3", "-m", "venv", environment);
  run(join(environment, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", ...packages);
  const scim = `${url}/scim/v2/orgs/acme`;
  run(join(environment, "bin/python"), join(import.meta.dirname, "scim.py"), scim, String(secret));
  run(join(environment, "bin/scim-sanity"), "probe", scim, "--token", String(secret), "--i-accept-side-effects");
});
