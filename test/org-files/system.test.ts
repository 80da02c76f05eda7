// A file for the org `system`, which has what the service itself needs.
import { expect, onTestFinished, test } from "vitest";
import { Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { startTestServer } from "../support/test-server.ts";
import { all, filesOf } from "./files.ts";

test("a file that lacks the client of the command line does not remove it, and removes others", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const files = filesOf("/orgs/system", server.url, server.operatorKey);
  const exported = await files.export();
  expect(exported["clients"]).toMatchObject([{ name: "command-line" }]);
  const other = { name: "other", redirect_uris: ["https://app.example/callback"], scopes: ["iam.members.get"] };
  await files.apply({ ...exported, clients: [...(exported["clients"] as object[]), other] as never });
  const { lines, unlistedPaths } = await files.plan({ ...exported, clients: [] }, all);
  expect(lines).toEqual(["DELETE clients/other"]);
  expect(unlistedPaths).toEqual(["/orgs/system/clients/command-line"]);
  const source = { address: "https://git.example/system.yaml", version: "1" };
  await files.apply(exported, { source });
  const managed = await files.plan(
    { ...exported, clients: [] },
    { source, prune: Prune.MANAGED, maxRemovalPercent: 100 },
  );
  expect(managed.lines).toEqual([]);
});
