import { readFileSync } from "node:fs";
import { join } from "node:path";

const schema = readFileSync(join(import.meta.dirname, "../../src/database/schema.sql"), "utf8");
/** The catalog of services is in the org `system`, and of no org. */
const ofNoOrg = new Set(["services", "resource_types", "quantity_kinds", "quality_kinds"]);

/** The tables whose rows belong to orgs. */
export const tablesOfOrgs: ReadonlySet<string> = new Set(
  [...schema.matchAll(/^create table (\w+) \(([^;]*);/gm)]
    .filter(([, , columns = ""]) => /^ {2}org_id /m.test(columns))
    .map(([, table = ""]) => table)
    .filter((table) => !ofNoOrg.has(table)),
);
