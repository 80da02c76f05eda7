import { describe, expect, test } from "vitest";
import { LibraryService } from "../gen/rest/test/v1/library_pb.ts";
import { listenHttp1 } from "../support/listen.ts";
import { counts } from "./judgements.ts";
import { haveVectors, loadVectors } from "./load-vectors.ts";
import { testVectors } from "./test-vectors.ts";

interface RequestRow {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly status: number | null;
  readonly not_status?: number;
}

interface HeaderRow {
  readonly name: string;
  readonly header: string;
  /** The name under which the method receives the header. */
  readonly metadata: string | null;
}

const rows = loadVectors<RequestRow | HeaderRow>("http.json").map((row, index) => ({ index, row }));

/** `/package.Service/Method`, the paths of Connect, gRPC and gRPC-Web. */
const rpcPath = /^\/[\w.]+\.[A-Z]\w*\/[A-Z]\w*/;

const isRpc = (row: RequestRow | HeaderRow): boolean => "url" in row && rpcPath.test(row.url);

const cases = rows
  .filter(({ row }) => !isRpc(row))
  .map(({ index, row }) => ({
    name: `${index} ${row.name}`,
    row: index,
    run: () => ("url" in row ? runRequest(row) : runHeader(row)),
  }));

testVectors("HTTP behavior of other implementations", "http.json", cases);

describe.skipIf(!haveVectors)("Connect, gRPC and gRPC-Web", () => {
  test(`have ${counts["http.json"]?.apart} rows of http.json, which are skipped because connect-node serves them`, () => {
    const apart = rows.filter(({ row }) => isRpc(row));
    expect(apart).toHaveLength(counts["http.json"]?.apart ?? -1);
    expect(apart.filter(({ row }) => row.name.startsWith("rest"))).toEqual([]);
  });
});

async function runRequest(row: RequestRow): Promise<{ actual: unknown; expected: unknown }> {
  const { status } = await call(row.method, row.url, row.headers);
  return row.status === null
    ? { actual: status === row.not_status, expected: false }
    : { actual: status, expected: row.status };
}

async function runHeader({ header, metadata }: HeaderRow): Promise<{ actual: unknown; expected: unknown }> {
  // A value that is valid for Accept and differs from that of any other header.
  const value = "*/*;q=0.123";
  const { seen } = await call("GET", "/v1/shelves/1/books/2", { [header]: value });
  const name = seen.find(([, text]) => text === value)?.[0];
  return { actual: name ?? null, expected: metadata?.toLowerCase() ?? null };
}

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; seen: [string, string][] }> {
  const seen: [string, string][] = [];
  const endpoint = await listenHttp1({
    routes: (router) =>
      router.service(LibraryService, {
        getBook({ name }, { requestHeader }) {
          seen.push(...requestHeader);
          return { name };
        },
      }),
  });
  const { status } = await endpoint.call({ method, path, headers });
  return { status, seen };
}
