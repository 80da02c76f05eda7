import { expect } from "vitest";
import type { Outcome } from "../../../src/cli/run-import.ts";
import { importInto } from "../../cli/support/import-into.ts";
import { dataSetFile } from "../../support/data-set.ts";
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

export async function importOrganisation(name: string): Promise<ImportedOrganisation> {
  const server = await startTestServer();
  const outcome = await importInto(server, dataSetFile(`${name}.json`));
  expect(outcome.end).toBeUndefined();
  return { server, outcome };
}
