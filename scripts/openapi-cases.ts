// Runs openapi-cases.py against a service: does it refuse what the OpenAPI document allows? `npm run openapi:cases -- EXAMPLES` for
// each operation, 4 by default. Needs Python, and installs schemathesis into a virtual environment.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { withService } from "./with-service.ts";

const examples = process.argv[2] ?? "4";

await withService(async ({ url, key, directory }) => {
  const run = (program: string, ...args: string[]): unknown => execFileSync(program, args, { stdio: "inherit" });
  const environment = join(directory, "venv");
  run("python3", "-m", "venv", environment);
  run(join(environment, "bin/pip"), "install", "--quiet", "schemathesis==4.32.5");
  run(join(environment, "bin/python"), join(import.meta.dirname, "openapi-cases.py"), url, key, examples);
});
