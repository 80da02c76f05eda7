import { Code, ConnectError } from "@connectrpc/connect";
import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { isName } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Clients } from "../calls/create-clients.ts";
import { nameKey } from "../file/name-key.ts";
import { formerNamesOf, makeUpName } from "./made-up-names.ts";
import { findOrg } from "./read-existing.ts";
import { type Refuse, resolveNames } from "./resolve-names.ts";

/** The org of a file: its name, by the `nameKey` of the original, and the org if it exists. */
export interface FoundOrg {
  readonly names: ReadonlyMap<string, string>;
  readonly org: Org | undefined;
}

/**
 * Finds the org of a file among those with a name that the original has or had in earlier versions. Other orgs, which may belong to
 * other customers, are not looked at.
 */
export async function findOrgOfFile(clients: Clients, original: string, refuse: Refuse): Promise<FoundOrg> {
  const key = nameKey(original);
  const possible = isName(key) ? [key] : [makeUpName(key), ...formerNamesOf(key)];
  const orgs = new Map<string, Org>();
  let denial: unknown;
  for (const name of possible) {
    try {
      const org = await findOrg(clients, formatPath(patterns.Org, name));
      if (org !== undefined) orgs.set(name, org);
    } catch (error) {
      // To callers who cannot read all orgs, one that does not exist is denied, too.
      if (!(error instanceof ConnectError) || error.code !== Code.PermissionDenied) throw error;
      denial ??= error;
    }
  }
  const names = resolveNames("org", [original], orgs.values(), refuse);
  const org = orgs.get(names.get(key) ?? "");
  if (org === undefined && denial !== undefined) throw denial;
  return { names, org };
}
