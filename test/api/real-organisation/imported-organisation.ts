import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Outcome } from "../../../src/cli/run-import.ts";
import { importInto } from "../../cli/support/import-into.ts";
import { readDataSet } from "../../support/data-set.ts";
import { rounds } from "../../support/rounds.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

/** The file of an organisation. */
export interface DataSet {
  readonly org: string;
  readonly admins: readonly string[];
  readonly members: readonly string[];
  readonly groups: readonly {
    readonly name: string;
    readonly parent: string | null;
    readonly maintainers: readonly string[];
    readonly members: readonly string[];
  }[];
  readonly projects: readonly string[];
  readonly grants: readonly { readonly group: string; readonly project: string; readonly role: string }[];
}

/** A server with an imported organisation. */
export interface ImportedOrganisation {
  readonly server: TestServer;
  readonly outcome: Outcome;
}

/** Reads the file of an organisation. `npm run soak` takes all of it, `npm test` a part of a large one. */
export function readOrganisation(name: string): DataSet {
  const whole = JSON.parse(readDataSet(`${name}.json`)) as DataSet;
  return rounds(whole.groups.length < 100 ? whole : partOf(whole), whole);
}

/** Every fourth group, those that are nested or hold a rare role, and what goes with these: their members and projects. */
function partOf(whole: DataSet): DataSet {
  const parents = new Set(whole.groups.map(({ parent }) => parent));
  const isRare = ({ role }: { readonly role: string }): boolean => role !== "admin" && role !== "write";
  const withRareRole = new Set(whole.grants.filter(isRare).map(({ group }) => group));
  const groups = whole.groups.filter(
    ({ name, parent }, index) => index % 4 === 0 || parent !== null || parents.has(name) || withRareRole.has(name),
  );
  const kept = new Set(groups.map(({ name }) => name));
  const grants = whole.grants.filter(({ group }) => kept.has(group));
  const granted = new Set(grants.map(({ project }) => project));
  // Groups may spell a member in another case.
  const inGroups = new Set(groups.flatMap((group) => [...group.maintainers, ...group.members].map(lowercase)));
  return {
    ...whole,
    members: whole.members.filter((member, index) => inGroups.has(lowercase(member)) || index % 8 === 0),
    groups,
    projects: whole.projects.filter((project) => granted.has(project)),
    grants,
  };
}

const lowercase = (name: string): string => name.toLowerCase();

export async function importOrganisation(name: string): Promise<ImportedOrganisation> {
  const server = await startTestServer();
  const directory = await mkdtemp(join(tmpdir(), "tenantry-organisation-"));
  const file = join(directory, `${name}.json`);
  await writeFile(file, JSON.stringify(readOrganisation(name)));
  const outcome = await importInto(server, file).finally(() => rm(directory, { recursive: true }));
  expect(outcome.end).toBeUndefined();
  return { server, outcome };
}
