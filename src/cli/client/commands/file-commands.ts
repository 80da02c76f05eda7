// Organisations as files.
import { single } from "../arguments/flags.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addressOf, findMethod } from "../contract/find-method.ts";
import { recordOf } from "../http/service-error.ts";
import { writeJson } from "../output/print-items.ts";
import { writeYaml } from "../output/write-yaml.ts";
import { type Command, connectTo, refuseWords } from "./command.ts";
import { explainFailure } from "./explain-failure.ts";

const exportOrg: Command = {
  name: "export",
  usage: "[ORG]",
  help: "Print an org as a file, in YAML: tenantry export acme > acme.yaml",
  flags: [{ name: "output", short: "o", value: "FORMAT", help: "yaml or json" }],
  async run(call, parsed) {
    const [given] = parsed.positionals;
    refuseWords(parsed, 1, { message: "export takes one org", next: `tenantry export ${given ?? "ORG"}` });
    const format = single(parsed, "output") ?? "yaml";
    if (format !== "yaml" && format !== "json")
      throw new CommandError(`an exported file is yaml or json, got ${JSON.stringify(format)}`);
    const { service, context } = await connectTo(call, parsed);
    const org = given ?? context.org;
    if (org === undefined) throw new CommandError("export needs an org", { next: "tenantry export ORG" });
    const found = findMethod(call.contract, "export", org.includes("/") ? org : `/orgs/${org}`, context);
    try {
      const path = addressOf(found.method, found.segments);
      const answer = recordOf(await service.call({ method: "GET", path, isRepeatable: true })) ?? {};
      call.host.print(format === "json" ? writeJson(answer["org_file"]) : writeYaml(answer["org_file"]));
    } catch (error) {
      throw explainFailure(error, { contract: call.contract, verb: "export", found });
    }
    return exitCodes.done;
  },
};

export const fileCommands: readonly Command[] = [exportOrg];
