// `node bench/watchers.ts [500]` opens streams of one org on a service, and prints the memory that each takes, and how long one change takes
// until all have it.
import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ChangesService } from "../gen/iam/v1alpha/change_pb.ts";
import { GroupsService } from "../gen/iam/v1alpha/group_pb.ts";
import { OrgsService } from "../gen/iam/v1alpha/org_pb.ts";
import { withService } from "../scripts/with-service.ts";
import { median } from "./figures.ts";

const count = Number(process.argv[2] ?? 500);
const changes = 20;
/** A connection has 256 at most. */
const streamsPerConnection = 200;

process.env["TENANTRY_STREAMS_PER_CALLER"] = String(count);
// Streams are requests in flight, and there is a write besides.
process.env["TENANTRY_REQUESTS_PER_ADDRESS"] = String(count + 10);

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
  /** Streams that are open, and changes that have arrived. Checkpoints come whenever a stream has been quiet. */
  const arrived = { streams: 0, changes: 0, wake: (): void => {} };
  const failure = Promise.withResolvers<never>();
  const read = async (client: ReturnType<typeof createClient<typeof ChangesService>>): Promise<void> => {
    let isOpen = false;
    for await (const { event } of client.watchChanges({ parentPath }, { signal: abort.signal })) {
      if (event.case === "change") arrived.changes++;
      else if (!isOpen) arrived.streams++;
      isOpen = true;
      arrived.wake();
    }
  };
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached())
      await Promise.race([new Promise<void>((resolve) => (arrived.wake = resolve)), failure.promise]);
  };
  let client = createClient(ChangesService, transportOf());
  for (let index = 0; index < count; index++) {
    if (index % streamsPerConnection === 0) {
      await until(() => arrived.streams === index);
      client = createClient(ChangesService, transportOf());
    }
    read(client).catch((error: unknown) => abort.signal.aborted || failure.reject(error));
  }
  await until(() => arrived.streams === count);
  console.log(`${count} streams: ${((kilobytes() - before) / count).toFixed(0)} kB each`);
  const times: number[] = [];
  for (let index = 0; index < changes; index++) {
    const startedAt = performance.now();
    await write(`group-${index}`);
    await until(() => arrived.changes === count * (index + 1));
    times.push(performance.now() - startedAt);
  }
  console.log(`a change is at all of them after ${median(times).toFixed(0)} ms, with its write (median of ${changes})`);
  console.log(`${((kilobytes() - before) / count).toFixed(0)} kB each then`);
  abort.abort();
});
