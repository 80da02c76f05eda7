// `node bench/watchers.ts [500]` opens streams of one org on a service, and prints the memory that each takes, and how long one change takes
// until all have it.
import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ChangesService } from "../gen/iam/v1alpha/change_pb.ts";
import { GroupsService } from "../gen/iam/v1alpha/group_pb.ts";
import { OrgsService } from "../gen/iam/v1alpha/org_pb.ts";
import { withService } from "../scripts/with-service.ts";

const count = Number(process.argv[2] ?? 500);
const changes = 20;

process.env["TENANTRY_STREAMS_PER_CALLER"] = String(count);

await withService(async ({ url, key, pid }) => {
  const transportOf = () =>
    createGrpcTransport({
      baseUrl: url,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${key}`);
          return next(request);
        },
      ],
    });
  const kilobytes = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  const transport = transportOf();
  const { path: parentPath } = await createClient(OrgsService, transport).createOrg({ org: { name: "watched" } });
  const groups = createClient(GroupsService, transport);
  const write = (name: string) => groups.createGroup({ parentPath, group: { name } });
  await write("first");
  const before = kilobytes();
  const abort = new AbortController();
  const arrived = { messages: 0, wake: (): void => {} };
  const read = async (client: ReturnType<typeof createClient<typeof ChangesService>>): Promise<void> => {
    for await (const { resumeRevision } of client.watchChanges({ parentPath }, { signal: abort.signal })) {
      if (resumeRevision === "") throw new Error("a message says nothing of its revision");
      arrived.messages++;
      arrived.wake();
    }
  };
  const all = async (wanted: number): Promise<void> => {
    while (arrived.messages < wanted) await new Promise<void>((resolve) => (arrived.wake = resolve));
  };
  let client = createClient(ChangesService, transportOf());
  for (let index = 0; index < count; index++) {
    // A connection has 256 streams at most.
    if (index % 200 === 0) client = createClient(ChangesService, transportOf());
    void read(client).catch(() => undefined);
  }
  await all(count);
  console.log(`${count} streams: ${((kilobytes() - before) / count).toFixed(0)} kB each`);
  const times: number[] = [];
  for (let index = 0; index < changes; index++) {
    const startedAt = performance.now();
    await write(`group-${index}`);
    await all(count * (index + 2));
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  console.log(
    `a change is at all of them after ${times[changes / 2]?.toFixed(0)} ms, with its write (median of ${changes})`,
  );
  console.log(`${((kilobytes() - before) / count).toFixed(0)} kB each then`);
  abort.abort();
});
