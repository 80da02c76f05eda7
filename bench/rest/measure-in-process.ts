import { parsePathTemplate } from "../../src/rest/routing/path-template.ts";
import { createRouteTrie } from "../../src/rest/routing/route-trie.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { median } from "../figures.ts";
import { getPath, recordRoutes } from "./records.ts";

const rounds = 5;

type Handler = ReturnType<typeof createRestHandler>;

/** Returns microseconds for a Get through the handler, sequentially, without the cost of sockets and HTTP. */
export async function measureHandler(times: number): Promise<number> {
  const handler = createRestHandler({ routes: recordRoutes });
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now();
    for (let left = times; left > 0; left--) await handleOnce(handler);
    // The first round warms up.
    if (round > 0) samples.push(((performance.now() - startedAt) * 1000) / times);
  }
  return median(samples);
}

/** Provides only those parts of Node's requests and responses that the handler uses. */
function handleOnce(handler: Handler): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: "localhost", "user-agent": "bench", accept: "*/*" };
    const request = { method: "GET", url: getPath, headers, httpVersionMajor: 1, complete: true, socket: {} };
    const response = {
      destroyed: false,
      headersSent: false,
      once: () => response,
      setHeader: () => response,
      writeHead: (status: number) => (status === 200 ? response : reject(new Error(`status ${status}`))),
      end: () => resolve(),
    };
    handler(request as unknown as Parameters<Handler>[0], response as unknown as Parameters<Handler>[1]);
  });
}

/**
 * Returns nanoseconds for a match among `routes` routes with `segments` segments each, every other one of which is a variable.
 */
export function measureRouter(routes: number, segments: number, times: number): number {
  const trie = createRouteTrie<number>();
  const kinds = (route: number): string[] =>
    Array.from({ length: segments / 2 }, (_, index) => `kind${index === 0 ? route : index}`);
  for (let route = 0; route < routes; route++) {
    const template = `/${kinds(route)
      .map((kind, index) => `${kind}/{id${index}}`)
      .join("/")}`;
    trie.add("GET", parsePathTemplate(template), route, template);
  }
  // The number of distinct paths does not depend on the number of routes; the paths cover all routes.
  const paths = Array.from({ length: 1000 }, (_, index) => {
    const route = Math.floor((index * routes) / 1000);
    return `/${kinds(route)
      .map((kind) => `${kind}/id-${index}`)
      .join("/")}`;
  });
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    let found = 0;
    const startedAt = performance.now();
    for (let time = 0; time < times; time++) {
      if (trie.match("GET", paths[time % paths.length] ?? "").route !== undefined) found++;
    }
    if (round > 0) samples.push(((performance.now() - startedAt) * 1e6) / times);
    if (found !== times) throw new Error(`${times - found} paths were not found`);
  }
  return median(samples);
}
