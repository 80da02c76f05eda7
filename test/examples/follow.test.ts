// Tests that examples/follow.ts keeps a copy of an org, also if it is killed while it is behind.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { GroupSchema } from "../../gen/iam/v1alpha/group_pb.ts";
import { MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { openCompany } from "../access/callers.ts";
import { sharedServer } from "../support/shared-server.ts";

const root = join(import.meta.dirname, "../..");

test("follow.ts keeps a copy of an org right through its own end", async () => {
  const server = await sharedServer();
  const company = await openCompany("gRPC", server);
  const { path: parentPath } = company.org;
  const owner = await company.joinAs("owner");
  const directory = await mkdtemp(join(tmpdir(), "follow-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "copy.json");

  const start = async (): Promise<ChildProcess> => {
    const env = { PATH: process.env["PATH"], TENANTRY_URL: server.url, TENANTRY_API_KEY: owner.key };
    const args = [join(root, "examples/follow.ts"), parentPath.slice(1), file];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    return child;
  };
  const stop = async (child: ChildProcess): Promise<void> => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  const readCopy = async (): Promise<unknown> =>
    (JSON.parse(await readFile(file, "utf8")) as { resources: unknown }).resources;
  const expected = async (): Promise<unknown> => {
    const { members } = await owner.members.listMembers({ parentPath });
    const { groups } = await owner.groups.listGroups({ parentPath });
    const all = [
      ...members.map((member) => toJson(MemberSchema, member, { useProtoFieldName: true })),
      ...groups.map((group) => toJson(GroupSchema, group, { useProtoFieldName: true })),
    ];
    return Object.fromEntries(
      all.map((each) => [(each as { id: string }).id, expect.objectContaining(each as object)]),
    );
  };

  await owner.members.createMember({ parentPath, member: { name: "alice" } });
  await owner.groups.createGroup({ parentPath, group: { name: "devs" } });
  const first = await start();
  await owner.members.updateMember({ path: `${parentPath}/members/alice`, member: { displayName: "Alice" } });
  await owner.members.createMember({ parentPath, member: { name: "bob" } });
  await expect.poll(readCopy).toEqual(await expected());

  await stop(first);
  await owner.members.deleteMember({ path: `${parentPath}/members/bob` });
  await owner.groups.deleteGroup({ path: `${parentPath}/groups/devs` });
  await owner.groups.createGroup({ parentPath, group: { name: "ops" } });
  const second = await start();
  await expect.poll(readCopy).toEqual(await expected());
  await stop(second);
});
