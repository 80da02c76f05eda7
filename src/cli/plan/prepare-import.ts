import type { Clients } from "../calls/create-clients.ts";
import { createProblemList } from "../file/problem-list.ts";
import type { OrganisationFile } from "../file/organisation-file.ts";
import { printable } from "../printable.ts";
import type { Kind, Creation } from "./creation.ts";
import { type DescribedOrganisation, describeOrganisation } from "./describe-organisation.ts";
import { type Difference, findDifferences } from "./find-differences.ts";
import { type Stage, planImport } from "./plan-import.ts";
import { type Existing, readExisting, findOrg } from "./read-existing.ts";
import { type Sibling, type Refuse, resolveNames } from "./resolve-names.ts";
import { identityOf } from "./identity-of.ts";
import { permissionsBeyond } from "./permissions-beyond.ts";
import type { Fail } from "../file/read-shape.ts";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { isName } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { nameKey } from "../../org-files/names/name-key.ts";
import { formerNamesOf, makeUpName } from "../../org-files/names/made-up-names.ts";

export interface PreparedImport {
  readonly organisation: DescribedOrganisation;
  readonly stages: readonly Stage[];
  readonly differences: readonly Difference[];
}

/**
 * Reads what exists, finds what the names of a file stand for, and plans what to create.
 *
 * @param orgName the name of the org; by default that in the file.
 * @throws ImportError if a name of the file may stand for a resource of somebody else, with what to write instead.
 */
export async function prepareImport(
  clients: Clients,
  given: OrganisationFile,
  orgName?: string,
): Promise<PreparedImport> {
  const file = orgName === undefined ? given : { ...given, org: { ...given.org, name: orgName } };
  const problems = createProblemList(`Nothing was changed: the import into ${printable(file.org.name)}`);
  const refuseAs = (kind: Kind) => (original: string, problem: string) =>
    problems.add(`${kind} "${printable(original)}"`, problem);

  const found = await findOrgOfFile(clients, file.org.name, refuseAs("org"));
  problems.throwIfAny();
  const existing: Existing = found.org === undefined ? new Map() : await readExisting(clients, found.org);
  const resolve = (kind: Kind, entries: readonly { readonly name: string }[]) => {
    const originals = entries.map(({ name }) => name);
    return resolveNames(kind, originals, siblingsOf(kind, existing), refuseAs(kind));
  };
  const organisation = describeOrganisation(file, {
    org: found.names,
    member: resolve("member", file.members),
    group: resolve("group", file.groups),
    project: resolve("project", file.projects),
  });
  problems.throwIfAny();
  checkConflicts(organisation.creations, existing, problems.add);
  problems.throwIfAny();
  return {
    organisation,
    stages: planImport(organisation.creations, existing),
    differences: findDifferences(organisation.creations, existing),
  };
}

function siblingsOf(kind: Kind, existing: Existing): Sibling[] {
  return Array.from(existing.values()).flatMap(({ kind: of, path, fields }) => {
    const displayName = fields["display_name"];
    if (of !== kind || typeof displayName !== "string") return [];
    return [{ name: path.slice(path.lastIndexOf("/") + 1), displayName }];
  });
}

/**
 * Checks that no resource of the org has the name of one that an import creates or grants, and is something else: a role that can do
 * more than the file's role, or a role binding of another role or subject.
 */
function checkConflicts(creations: readonly Creation[], existing: Existing, fail: Fail): void {
  const byPath = new Map(Array.from(existing.values(), (resource) => [resource.path, resource]));
  const granted = new Set<string | undefined>();
  for (const creation of creations) {
    if (creation.kind !== "role binding" || existing.has(identityOf(creation))) continue;
    granted.add(creation.request.roleBinding?.rolePath);
    const other = byPath.get(creation.path);
    if (other !== undefined) {
      fail(`role binding ${creation.path}`, `is there already: ${other.label}; delete it, or give it another name`);
    }
  }
  for (const creation of creations) {
    if (creation.kind !== "role" || !granted.has(creation.path)) continue;
    const more = permissionsBeyond(creation, byPath.get(creation.path)?.fields["permissions"]);
    if (more.length === 0) continue;
    fail(
      `role ${creation.path}`,
      `is there already, and also has ${printable(more.join(", "))}, which the file does not grant; take this out of it, or give it another name`,
    );
  }
}

/** The org of a file: its name, by the `nameKey` of the original, and the org if it exists. */
interface FoundOrg {
  readonly names: ReadonlyMap<string, string>;
  readonly org: Org | undefined;
}

/**
 * Finds the org of a file among those with a name that the original has or had in earlier versions. Other orgs, which may belong to
 * other customers, are not looked at.
 */
async function findOrgOfFile(clients: Clients, original: string, refuse: Refuse): Promise<FoundOrg> {
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
