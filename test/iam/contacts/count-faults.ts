import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { ChangeSchema, Change_View } from "../../../gen/iam/v1alpha/change_pb.ts";
import { verifyFile } from "../../../src/cli/verify-file.ts";
import type { Caller } from "../../access/callers.ts";

/** Verifies the log of an org, or those of a customer and its orgs, and returns how many faults there are. */
export async function countFaults(changes: Caller["changes"], parentPath: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "contacts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const request = { parentPath, orderBy: "time", view: Change_View.PROVED, pageSize: 1000 };
  const listed = await changes.listChanges(request);
  const lines = listed.changes.map(
    (change) => `${JSON.stringify(toJson(ChangeSchema, change, { useProtoFieldName: true }))}\n`,
  );
  const file = join(folder, "changes.ndjson");
  await writeFile(file, lines.join(""));
  return (await verifyFile(file, {}, () => {})).faults;
}
