// `npm run bench:watchers -- [1000]` opens streams of one org on a service, and prints the memory that each takes beside the first ones, how
// long one change takes until all have it, and how long the service works for that, which other load on the machine affects little.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ChangesService } from "../gen/iam/v1alpha/change_pb.ts";
import { GroupsService } from "../gen/iam/v1alpha/group_pb.ts";
import { OrgsService } from "../gen/iam/v1alpha/org_pb.ts";
import { withService } from "../scripts/with-service.ts";
import { median } from "./figures.ts";
import { processorTime } from "./processor-time.ts";

const count = Number(process.argv[2] ?? 1_000);
const changes = 20;
/** Before these and their changes, the service has run little of its code, and its heap has not grown. */
const warmUp = { streams: 200, changes: 5 };
/** A connection has 256 at most. */
const streamsPerConnection = 200;

process.env["TENANTRY_STREAMS_PER_CALLER"] = String(warmUp.streams + count);
// Streams are requests in flight, and there is a write besides.
process.env["TENANTRY_REQUESTS_PER_ADDRESS"] = String(warmUp.streams + count + 10);

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
  let opened = 0;
  const open = async (more: number): Promise<void> => {
    for (const end = opened + more; opened < end; opened++) {
      if (opened % streamsPerConnection === 0) {
        await until(() => arrived.streams === opened);
        client = createClient(ChangesService, transportOf());
      }
      read(client).catch((error: unknown) => abort.signal.aborted || failure.reject(error));
    }
    await until(() => arrived.streams === opened);
  };
  /** Writes changes, one when all have the one before. Returns how long each took. */
  const change = async (times: number): Promise<number[]> => {
    const milliseconds: number[] = [];
    for (let index = 0; index < times; index++) {
      const startedAt = performance.now();
      const wanted = arrived.changes + opened;
      await write(randomUUID().slice(0, 8));
      await until(() => arrived.changes === wanted);
      milliseconds.push(performance.now() - startedAt);
    }
    return milliseconds;
  };
  await open(warmUp.streams);
  await change(warmUp.changes);
  const before = kilobytes();
  const perStream = (): string => ((kilobytes() - before) / count).toFixed(0);
  await open(count);
  console.log(`${opened} streams: ${perStream()} kB each`);
  const workedBefore = processorTime(pid);
  const times = await change(changes);
  const worked = (processorTime(pid) - workedBefore) / changes / 1_000;
  console.log(`a change is at all of them after ${median(times).toFixed(0)} ms, with its write (median of ${changes})`);
  console.log(`the service works ${worked.toFixed(0)} ms for it; then the streams have ${perStream()} kB each`);
  abort.abort();
});
