// Writes the snapshot of an org of 5,000 members several times to the directory in its argument, and logs to stdout. A process of its own,
// so that a test can limit it.
import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { loadRows } from "../../src/access/engine/loading/load-rows.ts";
import { createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { createSnapshotFiles } from "../../src/access/snapshots/files/snapshot-files.ts";
import { createSealer } from "../../src/identity/sealer.ts";
import { sampleRevision } from "../support/revisions.ts";

const engine = { predefinedRoles: {}, compileCondition: () => () => true };
const org = {
  id: randomUUID(),
  name: "acme",
  customer_id: randomUUID(),
  state: "ACTIVE",
  revision: sampleRevision(1),
} as const;
const snapshot = createOrgSnapshot({ ...engine, org });
loadRows(snapshot, {
  members: Array.from({ length: 5_000 }, (_, n) => ({
    id: randomUUID(),
    name: `member-${n}`,
    state: "ACTIVE" as const,
  })),
});
const files = createSnapshotFiles({
  ...engine,
  directory: process.argv[2] ?? "",
  maxBytes: Infinity,
  sealer: createSealer([randomBytes(32)]),
  version: "1",
  migrations: [],
  installation: "here",
  logger: pino({ level: "info" }),
});
for (let time = 0; time < 3; time++) await files.save(snapshot);
