// The organisations of real communities as files, and random edits of them.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { createClient } from "@connectrpc/connect";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { uniqueName } from "../support/api.ts";
import { createTransport } from "../support/transports.ts";
import { type Company, openCompany } from "../access/callers.ts";
import { readOrganisation } from "../api/real-organisation/imported-organisation.ts";
import { hasDataSets } from "../support/data-set.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Files, all, filesOf } from "./files.ts";
import { createPick } from "../support/create-pick.ts";
import { closeFile, edit, openFile } from "./random-edits.ts";

let server: SharedServer;
let company: Company;
let files: Files;
/** Of which projects get limits. */
const kinds = ["cpu", "ram"].map((start) => uniqueName(start).replaceAll("-", "_"));
beforeAll(async () => {
  server = await sharedServer();
  const catalog = createClient(QuantityKindsService, createTransport("gRPC", server.url, server.operatorKey));
  for (const name of kinds) await catalog.createQuantityKind({ quantityKind: { name, unit: "unit" } });
  company = await openCompany("gRPC", server);
  const { key } = await company.joinAs("owner", "olive");
  files = filesOf(company.org.path, server.url, key, "gRPC");
});

if (!hasDataSets) console.warn("real organisations as files: skipped, there is no ../shared/data");

/** Makes edits of what is there, a few at a time. */
async function editAtRandom(count: number, seed: number): Promise<void> {
  const pick = createPick(seed);
  let exported = await files.export();
  for (let number = 0; number < count;) {
    const wanted = openFile(exported);
    for (let more = 1 + pick(20); more > 0; more--) edit(wanted, pick, number++, kinds);
    await files.apply(closeFile(wanted, "of all projects"), all);
    exported = await files.export();
    expect({ seed, number, file: exported }).toEqual({ seed, number, file: closeFile(wanted, "with limits") });
  }
}

describe.skipIf(!hasDataSets)("kubernetes-sigs (skipped without the data sets)", () => {
  test(
    "is applied in one transaction, exported, and then there is nothing to do; the same after random edits",
    async () => {
      const data = readOrganisation("kubernetes-sigs") as unknown as JsonObject;
      const file = { ...data, org: company.org.name };
      const began = performance.now();
      const { changeCount } = await files.apply(file);
      console.warn(
        `kubernetes-sigs: ${changeCount} changes planned and applied in ${Math.round(performance.now() - began)} ms`,
      );
      expect(changeCount).toBeGreaterThan(1_000);
      expect((await files.plan(file)).lines).toEqual([]);
      const exported = await files.export();
      expect((await files.plan(exported, all)).lines).toEqual([]);
      expect((await files.apply(exported, all)).changeCount).toBe(0);
      await editAtRandom(rounds(6, 1_000), 1);
    },
    soakTimeoutMs,
  );
});

test("a small org is what its file says, after random edits", async () => {
  const other = await openCompany("gRPC", server);
  const { key } = await other.joinAs("owner", "olive");
  files = filesOf(other.org.path, server.url, key, "gRPC");
  await editAtRandom(rounds(15, 1_000), 2);
});
