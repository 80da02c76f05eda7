import { CommandError, exitCodes } from "../command-error.ts";
import type { FoundMethod } from "../contract/find-method.ts";
import { kebab } from "../contract/names.ts";
import type { Connection } from "../credentials/connect.ts";
import type { Host } from "../host.ts";
import { escapeText } from "../output/escape-text.ts";

/** Reports whether a verb takes away what it does not give back. */
function removes(verb: string): boolean {
  return /^(delete|purge|erase|revoke|batchDelete)/.test(verb);
}

/**
 * Asks before something is removed.
 *
 * @throws CommandError if the person says no, or if there is nobody to ask.
 */
export async function confirmRemoval(
  host: Host,
  connection: Connection,
  found: readonly FoundMethod[],
  isConfirmed: boolean,
): Promise<void> {
  const [first] = found;
  if (isConfirmed || first === undefined || !removes(first.method.verb)) return;
  const verb = kebab(first.method.verb);
  const paths = found.map(({ segments }) => segments.join("/"));
  const what = paths.length === 1 ? (paths[0] ?? "") : `${paths.length} resources, from ${paths[0] ?? ""}`;
  await confirm(host, connection, `${verb} ${what}`, `tenantry ${verb} ${paths.join(" ")}`);
}

/**
 * Asks whether to do something.
 *
 * @param command what does it without asking, with `--yes`.
 * @throws CommandError if the person says no, or if there is nobody to ask.
 */
export async function confirm(
  host: Host,
  { service, source }: Connection,
  what: string,
  command: string,
): Promise<void> {
  if (!host.isInteractive) {
    throw new CommandError(`${what} needs --yes where nobody can be asked`, {
      reason: "CONFIRMATION_NEEDED",
      next: `${command} --yes`,
    });
  }
  const answer = await host.ask(`${escapeText(`${what} at ${service.url} as ${source}`)}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandError("nothing was changed", { exitCode: exitCodes.refused, reason: "NOT_CONFIRMED" });
}
