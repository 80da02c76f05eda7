import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseFields } from "../arguments/read-fields.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addressOf, findMethod } from "../contract/find-method.ts";
import { fieldsOf } from "../contract/method-fields.ts";
import { recordOf } from "../http/service-error.ts";
import { printItem } from "../output/print-items.ts";
import { writeYaml } from "../output/write-yaml.ts";
import { type Command, connectTo, formatOf, refuseWords } from "./command.ts";
import { explainFailure } from "./explain-failure.ts";

/** Changes a resource in an editor. What somebody else changes meanwhile is not overwritten. */
export const editCommand: Command = {
  name: "edit",
  usage: "PATH",
  help: "Change a resource in $EDITOR; fails if somebody else has changed it meanwhile",
  flags: [],
  async run(call, parsed) {
    const { contract, host } = call;
    const [path] = parsed.positionals;
    if (path === undefined) throw new CommandError("edit needs a path, such as orgs/acme/members/alice");
    refuseWords(parsed, 1, { message: "edit takes one path", next: `tenantry edit ${path}` });
    const { service, context } = await connectTo(call, parsed);
    const found = findMethod(contract, "update", path, context);
    const { method, segments } = found;
    const address = addressOf(method, segments);
    const failed = { contract, verb: "edit", found };
    const explain = (error: unknown): never => {
      throw explainFailure(error, failed);
    };
    const before =
      recordOf(await service.call({ method: "GET", path: address, isRepeatable: true }).catch(explain)) ?? {};
    const known = fieldsOf(contract, method).filter(({ name }) =>
      contract.messages[method.resource ?? ""]?.some((each) => each.name === name),
    );
    const names = known.map(({ name }) => name).filter((name) => name !== "etag");
    const shown = Object.fromEntries(
      names.flatMap((name) => (before[name] === undefined ? [] : [[name, before[name]]])),
    );
    const others = known.filter(({ name }) => name !== "etag" && before[name] === undefined);
    const hints = others.map(({ name, help }) => `# ${name}: ${help.replaceAll("\n", " ")}\n`).join("");
    const directory = await mkdtemp(join(tmpdir(), "tenantry-edit-"));
    const file = join(directory, `${segments.at(-1)?.replaceAll(/[^\w-]/g, "_") ?? "resource"}.yaml`);
    await writeFile(
      file,
      `# ${segments.join("/")}: save and leave to change it; leave it as it is to change nothing.\n${writeYaml(shown)}${hints}`,
      { mode: 0o600 },
    );
    await host.edit(file);
    const after = parseFields({ name: file, text: await readFile(file, "utf8") });
    const changed = [...new Set([...Object.keys(shown), ...Object.keys(after)])].filter(
      (name) => !isDeepStrictEqual(shown[name], after[name]),
    );
    const unknown = changed.find((name) => !names.includes(name));
    if (unknown !== undefined) throw new CommandError(`${unknown} cannot be changed; what you wrote is in ${file}`);
    if (changed.length > 0) {
      const body = {
        ...Object.fromEntries(changed.flatMap((name) => (after[name] === undefined ? [] : [[name, after[name]]]))),
        etag: before["etag"],
      };
      const query = { update_mask: changed.join(",") };
      const answer = await service.call({ method: "PATCH", path: address, query, body }).catch((error: unknown) => {
        host.warn(`What you wrote is in ${file}\n`);
        return explain(error);
      });
      printItem(host, answer, {
        format: formatOf(call, parsed),
        fields: contract.messages[method.output ?? ""] ?? [],
        columns: undefined,
        parent: "",
      });
    } else host.warn("Nothing was changed.\n");
    await rm(directory, { recursive: true });
    return exitCodes.done;
  },
};
