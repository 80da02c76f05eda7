// What a caller does to resources of its own: creates, updates, deletes, batches and reads, and what the answers must be.
import { isDeepStrictEqual } from "node:util";
import type { CallOptions } from "@connectrpc/connect";
import type { Caller } from "./caller.ts";
import type { Collection, Seen } from "./collections.ts";
import type { Findings } from "./findings.ts";
import { type History, type Kind, type Thing, isKnown, isThere, kinds } from "./history.ts";
import type { Random } from "./random.ts";

export interface ThingWorkOptions {
  /** Names of the resources begin with it; no other caller's do. */
  readonly prefix: string;
  readonly collections: Readonly<Record<Kind, Collection>>;
  readonly caller: Caller;
  readonly history: History;
  readonly random: Random;
  readonly findings: Findings;
}

interface Expected {
  readonly name: string;
  readonly description: string | undefined;
}

/** One thing that a caller does. */
type Step = () => Promise<void>;

/** How many resources are there at most before some are deleted. */
const maxThings = 30;

export function createThingWork({ prefix, collections, caller, history, random, findings }: ThingWorkOptions): {
  readonly steps: readonly (readonly [weight: number, step: Step])[];
} {
  const things: Thing[] = [];
  let serial = 0;
  const unique = (start: string): string => `${start}-${prefix}-${++serial}`;
  const pickKind = (): Kind => random.pick(kinds) ?? "projects";
  const pickThere = (kind?: Kind): Thing | undefined =>
    random.pick(things.filter((thing) => isThere(thing) && (kind === undefined || thing.kind === kind)));
  const add = (kind: Kind, name: string, possible: Thing["possible"]): void => {
    const thing = { kind, name, possible };
    things.push(thing);
    history.things.push(thing);
  };

  /** Whether a write can be repeated. Half of them can. */
  const drawRequestId = (): string => (random.chance(0.5) ? random.uuid() : "");
  /** Makes a write: until it is answered if it can be repeated, otherwise once. Repeats some that were answered. */
  const write = async <Value>(requestId: string, what: string, call: (options: CallOptions) => Promise<Value>) => {
    if (requestId === "") return caller.once("write", what, call);
    const outcome = await caller.untilAnswered("write", what, call);
    if (outcome.kind !== "done" || !random.chance(0.2)) return outcome;
    const again = await caller.untilAnswered("write", `repeat ${what}`, call);
    if (again.kind === "done" && !isDeepStrictEqual(again.value, outcome.value))
      findings.add("an answer is wrong", `${what} was answered in another way when it was repeated`);
    return outcome;
  };

  const create = async (): Promise<void> => {
    const [kind, name, mark, requestId] = [pickKind(), unique("t"), unique("c"), drawRequestId()];
    const what = `create ${kind}/${name} ${requestId}`;
    const outcome = await write(requestId, what, (options) =>
      collections[kind].create({ name, description: mark }, requestId, options),
    );
    if (outcome.kind === "refused") return;
    const isSure = outcome.kind === "done";
    if (isSure) expectSeen(what, outcome.value, { name, description: mark });
    history.writes.push({ mark, resources: 1, isSure });
    add(kind, name, isSure ? [mark] : [undefined, mark]);
  };

  const createBatch = async (): Promise<void> => {
    const [kind, mark, requestId] = [pickKind(), unique("b"), drawRequestId()];
    const names = Array.from({ length: 2 + random.below(8) }, () => unique("t"));
    const fields = names.map((name) => ({ name, description: mark }));
    const what = `create ${names.length} ${kind} from ${names[0]} ${requestId}`;
    const outcome = await write(requestId, what, (options) =>
      collections[kind].batchCreate(fields, requestId, options),
    );
    if (outcome.kind === "refused") return;
    const isSure = outcome.kind === "done";
    if (isSure) {
      if (outcome.value.length !== names.length)
        findings.add("a write is half there", `${what} answered ${outcome.value.length}`);
      for (const [index, seen] of outcome.value.entries()) {
        const expected = fields[index];
        if (expected !== undefined) expectSeen(what, seen, expected);
      }
    }
    history.writes.push({ mark, resources: names.length, isSure });
    for (const name of names) add(kind, name, isSure ? [mark] : [undefined, mark]);
  };

  const update = async (): Promise<void> => {
    const thing = pickThere();
    if (thing === undefined) return create();
    const [mark, requestId] = [unique("u"), drawRequestId()];
    const what = `update ${thing.kind}/${thing.name} ${requestId}`;
    const outcome = await write(requestId, what, (options) =>
      collections[thing.kind].update(thing.name, mark, requestId, options),
    );
    if (outcome.kind === "refused") return lost(what, outcome.reason);
    const isSure = outcome.kind === "done";
    if (isSure) expectSeen(what, outcome.value, { name: thing.name, description: mark });
    history.writes.push({ mark, resources: 1, isSure });
    thing.possible = isSure ? [mark] : [...thing.possible, mark];
  };

  const remove = async (): Promise<void> => {
    const thing = pickThere();
    if (thing === undefined) return create();
    const requestId = drawRequestId();
    const what = `delete ${thing.kind}/${thing.name} ${requestId}`;
    const outcome = await write(requestId, what, (options) =>
      collections[thing.kind].delete(thing.name, requestId, options),
    );
    if (outcome.kind === "refused") return lost(what, outcome.reason);
    thing.possible = outcome.kind === "done" ? [undefined] : [...thing.possible, undefined];
  };

  const removeBatch = async (): Promise<void> => {
    const kind = pickKind();
    const chosen = things.filter((thing) => thing.kind === kind && isThere(thing)).slice(0, 8);
    if (chosen.length === 0) return create();
    const requestId = drawRequestId();
    const names = chosen.map(({ name }) => name);
    const what = `delete ${kind} ${names.join(" ")} ${requestId}`;
    const outcome = await write(requestId, what, (options) => collections[kind].batchDelete(names, requestId, options));
    if (outcome.kind === "refused") return lost(what, outcome.reason);
    for (const thing of chosen) thing.possible = outcome.kind === "done" ? [undefined] : [...thing.possible, undefined];
    if (outcome.kind === "unknown") history.together.push(chosen);
  };

  const get = async (): Promise<void> => {
    const thing = pickThere();
    if (thing === undefined) return;
    const what = `get ${thing.kind}/${thing.name}`;
    const outcome = await caller.once("read", what, (options) => collections[thing.kind].get(thing.name, options));
    if (outcome.kind === "refused") lost(what, outcome.reason);
    if (outcome.kind === "done") expectSeen(what, outcome.value, { name: thing.name, description: thing.possible[0] });
  };

  /** Reads a collection in pages, while nobody changes what the caller has in it. */
  const list = async (): Promise<void> => {
    const kind = pickKind();
    const pageSize = 3 + random.below(40);
    const seen = new Map<string, string>();
    let pageToken = "";
    for (let page = 0; page < 200; page++) {
      const outcome = await caller.untilAnswered("read", `list ${kind}`, (options) =>
        collections[kind].list(pageSize, pageToken, options),
      );
      if (outcome.kind !== "done") return;
      for (const { name, description } of outcome.value.items) {
        if (!name.startsWith(`t-${prefix}-`)) continue;
        if (seen.has(name)) findings.add("an answer is wrong", `list ${kind} has ${name} twice`);
        seen.set(name, description);
      }
      pageToken = outcome.value.nextPageToken;
      if (pageToken === "") break;
    }
    if (pageToken !== "") return;
    for (const { kind: itsKind, name, possible } of things) {
      if (itsKind === kind && !possible.includes(seen.get(name)))
        findings.add(
          possible.includes(undefined) ? "an answer is wrong" : "an acknowledged write is lost",
          `list ${kind} says that ${name} is ${seen.get(name)}, not ${possible.join(" or ")}`,
        );
    }
    forgetRemoved();
  };

  /** Keeps the lists of what is expected short: what is known to be removed was looked for once. */
  const forgetRemoved = (): void => {
    for (let index = things.length - 1; index >= 0; index--) {
      const thing = things[index];
      if (thing !== undefined && isKnown(thing) && !isThere(thing) && things.length > 2 * maxThings)
        things.splice(index, 1);
    }
  };

  const expectSeen = (what: string, seen: Seen, expected: Expected): void => {
    if (seen.name !== expected.name || seen.description !== expected.description)
      findings.add(
        "an answer is wrong",
        `${what} answered ${seen.name} with ${seen.description}, not ${expected.name} with ${expected.description}`,
      );
  };
  const lost = (what: string, reason: string): void =>
    findings.add("an acknowledged write is lost", `${what} was refused with ${reason}`);

  const grow =
    (step: Step): Step =>
    () =>
      things.filter(isThere).length > maxThings ? removeBatch() : step();
  return {
    steps: [
      [4, grow(create)],
      [2, grow(createBatch)],
      [4, update],
      [3, remove],
      [1, removeBatch],
      [4, get],
      [2, list],
    ],
  };
}
