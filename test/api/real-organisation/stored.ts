import { expect, test } from "vitest";
import { makeUpName } from "../../../src/org-files/names/made-up-names.ts";
import { nameKey } from "../../../src/org-files/names/name-key.ts";
import { total } from "../../cli/support/import-into.ts";
import { type StoredOrg, readOrg } from "../../cli/support/read-org.ts";
import { type DataSet, type ImportedOrganisation, readOrganisation } from "./imported-organisation.ts";
import { numberOf } from "../../../src/changes/revision.ts";

/** Compares what an import has stored with its file. */
export function testImport(
  name: string,
  imported: () => ImportedOrganisation,
  counts: Readonly<Record<string, number>>,
): void {
  test(`${name} is stored as in its file`, async () => {
    const { server, outcome } = imported();
    const { revision, changes, ...stored } = await readOrg(server.databaseUrl, name);
    expect(stored).toEqual(walk(readOrganisation(name)));
    expect(mapValues(stored)).toEqual(counts);
    expect(changes).toBe(total(outcome).created);
    // A batch has one revision.
    expect(Number(numberOf(revision))).toBeLessThan(changes);
  });
}

const rolesFromWeakToStrong = ["read", "triage", "write", "maintain", "admin"];

/** Returns what must be stored, from a walk over the file. Names with a dot or a slash become made-up ones. */
function walk(file: DataSet): Omit<StoredOrg, "revision" | "changes"> {
  const name = (original: string): string => (/[./]/.test(original) ? makeUpName(original) : nameKey(original));
  return {
    members: [...file.admins, ...file.members].map(name).toSorted(),
    groups: file.groups.map((group) => name(group.name)).toSorted(),
    projects: file.projects.map(name).toSorted(),
    subgroups: file.groups
      .flatMap((group) => (group.parent === null ? [] : [`${name(group.parent)}/${name(group.name)}`]))
      .toSorted(),
    memberships: file.groups
      .flatMap((group) =>
        [...group.maintainers, ...group.members].map((member) => `${name(group.name)}/${name(member)}`),
      )
      .toSorted(),
    roles: rolesFromWeakToStrong
      .filter((role) => file.grants.some((grant) => grant.role === role))
      .map((role) => {
        const included = rolesFromWeakToStrong.slice(0, rolesFromWeakToStrong.indexOf(role) + 1);
        return `${role}: ${included.map((each) => `repos.access.${each}`).join(" ")}`;
      })
      .toSorted(),
    roleBindings: [
      ...file.admins.flatMap((admin) => [`/${name(admin)}/owner`, `/${name(admin)}/admin`]),
      ...file.grants.map(({ group, project, role }) => `${name(project)}/${name(group)}/${role}`),
    ].toSorted(),
  };
}

function mapValues(stored: Readonly<Record<string, readonly string[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(stored).map(([kind, names]) => [kind, names.length]));
}
