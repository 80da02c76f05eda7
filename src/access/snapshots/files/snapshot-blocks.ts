// A snapshot as blocks: what it is a snapshot of, then the rows of its parts, then a table of their arrays, and the arrays as they
// are in memory.
import { setImmediate as nextTurn } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { type OrgSnapshot, type OrgSnapshotOptions, createOrgSnapshot } from "../../engine/org-snapshot.ts";
import type { ArraysPart, SharedArrays, StoredArray } from "../../engine/tables/stored-part.ts";
import { type BlockReader, type BlockWriter, UnusableFileError } from "./sealed-blocks.ts";

interface Head {
  /** Of all that decides what the blocks mean. */
  readonly fingerprint: string;
  readonly orgId: string;
  readonly revision: string;
}

interface Rows {
  /** The index of the part. */
  readonly part: number;
  readonly rows: readonly unknown[];
}

/** For each part with arrays, in their order. */
interface ArrayTable {
  readonly arrays: readonly { readonly numbers: readonly number[]; readonly types: readonly ArrayType[] }[];
}

const arrayTypes = { int32: Int32Array, uint16: Uint16Array } as const;
type ArrayType = keyof typeof arrayTypes;

/** So many that sealing a block takes no longer than they do, and few enough that other work runs soon. */
const rowsOfBlock = 200;

/** How long blocks are sealed or opened before other work on the event loop runs, in milliseconds. */
const turnMs = 2;

/**
 * Writes a snapshot at its current revision. Changes wait only while the rows are collected, which are few as a rule, and not for the
 * file; meanwhile the snapshot can be read.
 *
 * @param isOver is asked between the blocks whether to give up.
 * @returns the revision; undefined if the writing was given up, or the snapshot is at none because a change has failed.
 */
export async function writeBlocks(
  snapshot: OrgSnapshot,
  fingerprint: string,
  writer: BlockWriter,
  isOver: () => boolean,
): Promise<string | undefined> {
  const { org, readHold } = snapshot;
  const parts = snapshot.parts();
  const pause = createPauses();
  const write = async (block: Uint8Array): Promise<void> => {
    await writer.write(block);
    await pause();
  };

  const shared: SharedArrays[] = [];
  const blocks: Uint8Array[] = [];
  const release = await readHold.hold();
  const { revision } = snapshot;
  try {
    if (snapshot.isChanging()) return undefined;
    blocks.push(serialize({ fingerprint, orgId: org.id, revision } satisfies Head));
    for (const [index, part] of parts.entries()) {
      if (part.kind !== "rows") continue;
      for (const rows of inLists(part.rows(), rowsOfBlock)) {
        if (isOver()) return undefined;
        blocks.push(serialize({ part: index, rows } satisfies Rows));
        await pause();
      }
    }
    snapshot.effectiveGroups.clear();
    for (const part of parts) if (part.kind === "arrays") shared.push(part.share());
  } finally {
    release();
  }
  try {
    for (const block of blocks) {
      if (isOver()) return undefined;
      await write(block);
    }
    const arrays = shared.map((each) => ({ numbers: each.numbers, types: each.arrays.map(typeOf) }));
    await write(serialize({ arrays } satisfies ArrayTable));
    for (const { buffer, byteOffset, byteLength } of shared.flatMap((each) => each.arrays)) {
      if (isOver()) return undefined;
      await write(new Uint8Array(buffer, byteOffset, byteLength));
    }
  } finally {
    for (const each of shared) each.release();
  }
  await writer.end();
  return revision;
}

/**
 * Reads a snapshot, at the revision at which it was written.
 *
 * @throws UnusableFileError when the blocks are not those of a snapshot of this org with this fingerprint.
 */
export async function readBlocks(
  orgId: string,
  fingerprintOf: (snapshot: OrgSnapshot) => string,
  reader: BlockReader,
  options: Omit<OrgSnapshotOptions, "org">,
): Promise<OrgSnapshot> {
  const pause = createPauses();
  const read = async (): Promise<Buffer> => {
    const block = await reader.read();
    await pause();
    return block;
  };

  const head = deserialize(await read()) as Head;
  if (head.orgId !== orgId) throw new UnusableFileError("the file is of another org");
  const empty = { id: orgId, name: "", customer_id: "", state: "ACTIVE", revision: head.revision } as const;
  const snapshot = createOrgSnapshot({ ...options, org: empty });
  if (head.fingerprint !== fingerprintOf(snapshot))
    throw new UnusableFileError("the file is of another version of the service, or of another database");
  const { arrays } = await readRows(snapshot, read);
  const parts = snapshot.parts().filter((part): part is ArraysPart => part.kind === "arrays");
  for (const [index, part] of parts.entries()) {
    const { numbers, types } = arrays[index] ?? { numbers: [], types: [] };
    const stored: StoredArray[] = [];
    for (const type of types) stored.push(viewOf(type, await read()));
    part.adopt({ numbers, arrays: stored });
  }
  if (!reader.isAtEnd()) throw new UnusableFileError("the file is too long");
  return snapshot;
}

/** Reads the rows, and the table that follows them. */
async function readRows(snapshot: OrgSnapshot, read: () => Promise<Buffer>): Promise<ArrayTable> {
  const parts = snapshot.parts();
  for (;;) {
    const block = deserialize(await read()) as Rows | ArrayTable;
    if ("arrays" in block) return block;
    const part = parts[block.part];
    if (part?.kind !== "rows") throw new UnusableFileError("the file has rows of an unknown part");
    for (const row of block.rows) part.add(row);
  }
}

function typeOf(array: StoredArray): ArrayType {
  return array instanceof Int32Array ? "int32" : "uint16";
}

function viewOf(type: ArrayType, block: Buffer): StoredArray {
  const Type = arrayTypes[type];
  // A view needs a position that is a multiple of its elements.
  const { buffer, byteOffset, byteLength } =
    block.byteOffset % Type.BYTES_PER_ELEMENT === 0 ? block : new Uint8Array(block);
  return new Type(buffer as ArrayBuffer, byteOffset, byteLength / Type.BYTES_PER_ELEMENT);
}

function* inLists(rows: Iterable<unknown>, length: number): Iterable<unknown[]> {
  let list: unknown[] = [];
  for (const row of rows) {
    list.push(row);
    if (list.length < length) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}

/** Returns a function that lets other work run when it is due. */
function createPauses(): () => Promise<void> | undefined {
  let endOfTurn = performance.now() + turnMs;
  return () => {
    if (performance.now() < endOfTurn) return undefined;
    return nextTurn().then(() => {
      endOfTurn = performance.now() + turnMs;
    });
  };
}
