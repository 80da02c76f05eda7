import type { Clients } from "../calls/create-clients.ts";
import { createProblemList } from "../file/problem-list.ts";
import type { OrganisationFile } from "../file/organisation-file.ts";
import { printable } from "../printable.ts";
import { checkConflicts } from "./check-conflicts.ts";
import type { Kind } from "./creation.ts";
import { type DescribedOrganisation, describeOrganisation } from "./describe-organisation.ts";
import { type Difference, findDifferences } from "./find-differences.ts";
import { findOrgOfFile } from "./find-org.ts";
import { type Stage, planImport } from "./plan-import.ts";
import { type Existing, readExisting } from "./read-existing.ts";
import { type Sibling, resolveNames } from "./resolve-names.ts";

/** What an import will do. */
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
