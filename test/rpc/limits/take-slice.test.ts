import type { DescMethod } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createMethodTable } from "../../../src/rpc/method-table.ts";
import { services, standardServices } from "../../../src/rpc/services.ts";
import { createSliceInterceptor } from "../../../src/rpc/limits/take-slice.ts";

const table = createMethodTable([...services, ...standardServices]);
const methods = [...table.keys()];
const short = methods.filter((method) => table.get(method)?.length === "short");

/** Returns the fields with which a caller chooses through how many items a call goes. */
function countsOf({ input }: DescMethod): string[] {
  const isCount = ({ name, fieldKind }: (typeof input.fields)[number]): boolean =>
    name === "page_size" || (fieldKind === "list" && !name.endsWith("_mask"));
  return input.fields.filter(isCount).map(({ name }) => name);
}

test("the methods that run without a time slice are those in short-calls.golden.txt", async () => {
  const lines = short.map(({ parent, name }) => `${parent.typeName}/${name}\n`);
  await expect(lines.join("")).toMatchFileSnapshot("short-calls.golden.txt");
});

test("no call that runs without a time slice goes through as many items as its caller chooses", () => {
  expect(short.filter((method) => countsOf(method).length > 0).map(({ name }) => name)).toEqual([]);
  expect(methods.filter((method) => countsOf(method).length > 0).map(({ name }) => name)).toContain("BatchCheckAccess");
});

test("a call that is aborted while it waits for its slice does not run", async () => {
  const client = new AbortController();
  const left = new Promise<void>((resolve) => client.signal.addEventListener("abort", () => resolve()));
  let ran = 0;
  const interceptor = createSliceInterceptor(() => left);
  const call = interceptor(() => {
    ran++;
    return Promise.reject(new Error("it ran"));
  })({ signal: client.signal } as never);
  client.abort(new Error("the client has left"));
  await expect(call).rejects.toThrow("the client has left");
  expect(ran).toBe(0);
});
