import { CommandError, exitCodes } from "../command-error.ts";
import { didYouMean } from "../arguments/nearest.ts";
import { type Command, type CommandCall, formatOf } from "../commands/command.ts";
import { checkSegment } from "../credentials/connect.ts";
import type { Profile, Profiles } from "../credentials/profiles.ts";
import { printItems } from "../output/print-items.ts";
import type { Field } from "../contract/contract.ts";

const settings = ["org", "project"] as const;

const shown: readonly Field[] = ["current", "name", "member", "org", "project", "url"].map((name) => ({
  name,
  type: "string",
  help: "",
}));

/** Lists the profiles, and changes which is used and what paths are relative to. */
export const configCommand: Command = {
  name: "config",
  usage: "[use PROFILE | set org|project NAME | unset org|project]",
  help: "List the profiles, choose one, or set what paths are relative to",
  flags: [],
  async run(call, parsed) {
    const [action, key, value, ...others] = parsed.positionals;
    if (action === undefined) {
      await list(call, formatOf(call, parsed));
      return exitCodes.done;
    }
    if (action === "use" && key !== undefined && value === undefined) {
      await call.store.change((stored) => {
        requireProfile(stored, key);
        return { ...stored, current: key };
      });
      return exitCodes.done;
    }
    const setting = settings.find((each) => each === key);
    const isSetting = (action === "set" && value !== undefined) || (action === "unset" && value === undefined);
    if (!isSetting || setting === undefined || others.length > 0) {
      throw new CommandError(
        `config takes nothing, use PROFILE, set org NAME, set project NAME, unset org or unset project, got ${JSON.stringify(parsed.positionals.join(" "))}`,
      );
    }
    const wanted = parsed.values.get("profile")?.[0];
    checkSegment(value, setting);
    await call.store.change((stored) => {
      const name = wanted === undefined ? stored.current : String(wanted);
      if (name === undefined)
        throw new CommandError("there is no profile", { reason: "NOT_SIGNED_IN", next: "tenantry login" });
      const profile = requireProfile(stored, name);
      return { ...stored, profiles: new Map(stored.profiles).set(name, { ...profile, [setting]: value }) };
    });
    return exitCodes.done;
  },
};

async function list({ host, store }: CommandCall, format: ReturnType<typeof formatOf>): Promise<void> {
  const { current, profiles } = await store.read();
  const items = [...profiles].map(([name, { member, org, project, url }]) => ({
    current: name === current ? "*" : "",
    name,
    member,
    org,
    project,
    url,
  }));
  const columns = format === "table" ? shown.map(({ name }) => name).join(",") : undefined;
  const printer = printItems(host, { format, fields: shown, columns, parent: "" });
  printer.page(items);
  printer.end();
  if (format === "table") host.warn(`In ${store.directory}\n`);
}

function requireProfile({ profiles }: Profiles, name: string): Profile {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  throw new CommandError(`there is no profile ${JSON.stringify(name)}${didYouMean(name, profiles.keys())}`, {
    next: "tenantry config",
  });
}
