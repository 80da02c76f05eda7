import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { ChangeSchema, Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { hashOf, noHash } from "../../src/changes/entry-record.ts";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { openCompany } from "../access/callers.ts";
import { sharedServer } from "../support/shared-server.ts";

test("verify finds what was changed in a file of changes, left out, or cut off", async () => {
  const company = await openCompany("gRPC", await sharedServer());
  await company.joinAs("viewer");
  const page = await company.api.changes.listChanges({
    parentPath: company.org.path,
    orderBy: "time",
    view: Change_View.PROVED,
  });
  const lines = page.changes.map((change) => JSON.stringify(toJson(ChangeSchema, change)));
  const folder = await mkdtemp(join(tmpdir(), "verify-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const verify = async (text: readonly string[], head: readonly string[] = []) => {
    const file = join(folder, "changes.ndjson");
    await writeFile(file, text.map((line) => `${line}\n`).join(""));
    const printed: string[] = [];
    const verified = await verifyFile(file, { head }, (line) => printed.push(line));
    return { ...verified, printed };
  };
  const last = page.changes.at(-1)?.proof?.hash ?? "";
  expect(lines.length).toBeGreaterThan(3);
  const whole = await verify(lines, [last]);
  expect(whole).toEqual({
    entries: lines.length,
    faults: 0,
    printed: [`${company.org.id} ends with ${last}`, `${lines.length} changes, 0 faults`],
  });
  expect(await verify(lines.toSpliced(1, 1))).toMatchObject({
    faults: 1,
    printed: [
      expect.stringMatching(/^line 2: .* an entry before it is missing or was changed$/),
      expect.anything(),
      `${lines.length - 1} changes, 1 fault`,
    ],
  });
  expect(await verify(lines.map((line) => line.replaceAll("/members/viewer", "/members/other")))).toMatchObject({
    faults: expect.any(Number),
    printed: expect.arrayContaining([expect.stringContaining("its resource_path is not what was written")]),
  });
  const cut = await verify(lines.slice(0, -1), [last]);
  expect(cut).toMatchObject({ faults: 1, printed: expect.arrayContaining([expect.stringContaining("cut off")]) });
  await expect(verify(["{"])).rejects.toThrow("line 1 is no JSON");
  // A change that only claims to have the hash, before others of which one begins the chain.
  const claimed = JSON.stringify({
    proof: { record: JSON.stringify({ org_id: company.org.id, revision: "" }), hash: last },
  });
  expect(await verify([claimed, ...lines.slice(0, -1)], [last])).toMatchObject({ faults: 1 });
  // The same log a second time, from the beginning of its chain.
  expect(await verify([...lines, ...lines])).toMatchObject({
    faults: 1,
    printed: expect.arrayContaining([
      expect.stringContaining("a chain begins with it, though its revision is not later"),
    ]),
  });
  expect(await verify([lines[0] ?? "", '{"org_path":"/orgs/x","proof":null}'])).toMatchObject({
    entries: 1,
    printed: expect.arrayContaining(["1 change without a proof, of which nothing shows that it was written"]),
  });
  await expect(verifyFile(join(folder, "none"), {}, () => {})).rejects.toThrow(
    `there is no file ${join(folder, "none")}`,
  );
  const wrong = "line 1 has a proof that is not an object with the texts record and hash, and texts and keys by field";
  await expect(verify(['{"proof":{}}'])).rejects.toThrow(wrong);
  await expect(verify(['{"proof":{"record":"{}","hash":"","texts":{"before":["x"]}}}'])).rejects.toThrow(wrong);
});

test("verify says where another chain begins, since changes before it could be missing", async () => {
  const entry = (number: number, start: number, previous: string) => {
    const revision = revisionOf(number);
    const record = JSON.stringify({
      org_id: "org",
      revision,
      position: 0,
      chain_start: revisionOf(start),
      timeline: 1,
    });
    return { record, hash: hashOf(previous, record) };
  };
  const first = entry(1, 1, noHash);
  const lines = [first, entry(2, 1, first.hash), entry(9, 9, noHash)].map((proof) => JSON.stringify({ proof }));
  const { faults, printed } = await verifyLines(lines);
  expect(faults).toBe(0);
  expect(printed).toContain(
    `org: another chain begins with ${revisionOf(9)}; nothing shows whether changes between it and ${revisionOf(2)} are missing`,
  );
});

test("verify takes nothing but line feeds as the ends of lines", async () => {
  const { org, api } = await openCompany("gRPC", await sharedServer());
  await api.members.createMember({
    parentPath: org.path,
    member: { name: "zoe", displayName: "a\u2028b\u2029c" },
  });
  const { changes } = await api.changes.listChanges({
    parentPath: org.path,
    orderBy: "time",
    view: Change_View.PROVED,
  });
  const lines = changes.map((change) => JSON.stringify(toJson(ChangeSchema, change)));
  expect(lines.join("")).toContain("\u2028");
  expect(await verifyLines(lines.map((line) => `${line}\r`))).toMatchObject({ entries: lines.length, faults: 0 });
});

const revisionOf = (number: number): string => `00000000-0000-000${number}-8000-000000000000`;

async function verifyLines(lines: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "verify-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "changes.ndjson");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  const printed: string[] = [];
  return { ...(await verifyFile(file, {}, (line) => printed.push(line))), printed };
}
