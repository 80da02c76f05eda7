import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { announcedBytesKey, createBodyPlaces, leaveBodyPlace } from "../../../src/rpc/limits/body-places.ts";

interface Call {
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

function createCall(length: number | undefined, signal = new AbortController().signal): Call {
  const values = createContextValues();
  return { signal, values: length === undefined ? values : values.set(announcedBytesKey, length) };
}

const long = 1_000_000;

/** Places of which an org has two, and the functions that run when the time of those is over, in their order. */
function createPlaces() {
  const ends: (() => void)[] = [];
  const places = createBodyPlaces({ perOrg: 2, after: (run) => ends.push(run) });
  const read: string[] = [];
  const take = (name: string, call = createCall(long)): Call => {
    void places.take(name.slice(0, 1), call)?.then(
      () => read.push(name),
      (error: unknown) => read.push(`${name}: ${error instanceof Error ? error.message : String(error)}`),
    );
    return call;
  };
  return { places, take, ends, read, settled: () => new Promise<void>((resolve) => setImmediate(resolve)) };
}

test.each([undefined, 0, 65_536])("a body of %s bytes needs no place", (length) => {
  const { places } = createPlaces();
  for (let count = 0; count < 10; count++) expect(places.take("a", createCall(length))).toBe(undefined);
});

test("long bodies of an org are read in their order, and wait for no other org", async () => {
  const { take, read, settled } = createPlaces();
  const [first] = ["a1", "a2", "a3", "a4"].map((name) => take(name));
  take("b1");
  await settled();
  expect(read).toEqual(["a1", "a2", "b1"]);
  leaveBodyPlace(first?.values ?? createContextValues());
  await settled();
  expect(read).toEqual(["a1", "a2", "b1", "a3"]);
});

test("a body that comes slowly keeps its place no longer than others", async () => {
  const { take, read, ends, settled } = createPlaces();
  const [slow] = ["a1", "a2", "a3", "a4"].map((name) => take(name));
  await settled();
  ends[0]?.();
  await settled();
  expect(read).toEqual(["a1", "a2", "a3"]);
  // When it has come at last, the place of another one is not free.
  leaveBodyPlace(slow?.values ?? createContextValues());
  await settled();
  expect(read).toEqual(["a1", "a2", "a3"]);
});

test("a call that ends before its body is read leaves no place taken", async () => {
  const { take, read, ends, settled } = createPlaces();
  const controller = new AbortController();
  take("a1");
  take("a2");
  take("a3", createCall(long, controller.signal));
  take("a4");
  controller.abort(new Error("closed"));
  await settled();
  ends[0]?.();
  await settled();
  expect(read).toEqual(["a1", "a2", "a3: closed", "a4"]);
});
