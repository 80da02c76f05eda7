// Imports the organisations of real communities, lists them, and checks access in them.
import { afterAll, beforeAll, describe } from "vitest";
import { hasDataSets } from "../support/data-set.ts";
import { rounds } from "../support/rounds.ts";
import { testAccess } from "./real-organisation/access.ts";
import { type ImportedOrganisation, importOrganisation } from "./real-organisation/imported-organisation.ts";
import { testLists } from "./real-organisation/lists.ts";
import { testImport } from "./real-organisation/stored.ts";

if (!hasDataSets) console.warn("real organisations: skipped, there is no ../shared/data");

const small = { members: 58, groups: 15, memberships: 78, projects: 13, subgroups: 1, roles: 4, roleBindings: 50 };
const large = rounds(
  { members: 368, groups: 123, memberships: 452, projects: 99, subgroups: 13, roles: 5, roleBindings: 127 },
  { members: 1_144, groups: 405, memberships: 1_531, projects: 202, subgroups: 13, roles: 5, roleBindings: 405 },
);

describe.skipIf(!hasDataSets)("etcd-io (skipped without the data sets)", () => {
  const imported = useOrganisation("etcd-io");
  testImport("etcd-io", imported, small);
});

// They run one after the other, because the last test adds role bindings.
describe.skipIf(!hasDataSets)("kubernetes-sigs (skipped without the data sets)", () => {
  const imported = useOrganisation("kubernetes-sigs");
  testImport("kubernetes-sigs", imported, large);
  testLists(imported);
  testAccess(imported);
});

function useOrganisation(name: string): () => ImportedOrganisation {
  let imported: ImportedOrganisation;
  beforeAll(async () => {
    imported = await importOrganisation(name);
  });
  afterAll(() => imported.server.close());
  return () => imported;
}
