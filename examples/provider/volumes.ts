import { mkdirSync } from "node:fs";
import { access, open, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Driver, type Given, OperationFailure, type Work } from "./driver.ts";

/** Files are whole blocks, so a volume can be larger than was asked for. */
const blockBytes = 4_096;
const size = { kind: "instance_storage", required: true, minimum: 1_048_576, counted: true, surplus: blockBytes };

/** Storage volumes: sparse files. The files are all that the driver knows. */
export function createVolumes(directory: string): Driver {
  mkdirSync(directory, { recursive: true });
  const fileOf = ({ resource }: Work) => join(directory, `${resource.id}.img`);
  /** Where the file of a deleted volume is until it is purged. */
  const keptFileOf = (work: Work) => `${fileOf(work)}.deleted`;

  /** Creates the file, or changes its size. */
  const allocate = async (work: Work): Promise<Given> => {
    const wanted = work.operation.quantities[size.kind] ?? 0;
    const bytes = Math.ceil(wanted / blockBytes) * blockBytes;
    const { bavail, bsize } = await statfs(directory);
    if (bytes > bavail * bsize) {
      throw new OperationFailure("NO_CAPACITY", `a volume can have at most ${bavail * bsize} bytes, got ${wanted}`);
    }
    work.signal.throwIfAborted();
    await using file = await open(fileOf(work), "a");
    await file.truncate(bytes);
    return { quantities: { [size.kind]: bytes }, outputs: { file: fileOf(work) } };
  };

  return {
    service: "storage",
    type: "volumes",
    operations: {
      create: { quantities: [size], run: allocate },
      resize: { quantities: [size], run: allocate },
      delete: {
        async run(work) {
          // There is none if it could not be created, or an earlier attempt has moved it.
          if (await exists(fileOf(work))) await rename(fileOf(work), keptFileOf(work));
          return {};
        },
      },
      undelete: {
        async run(work) {
          if (await exists(keptFileOf(work))) await rename(keptFileOf(work), fileOf(work));
          else if (!(await exists(fileOf(work)))) throw new OperationFailure("NO_FILE", "the volume was never created");
          return {};
        },
      },
      purge: {
        async run(work) {
          await rm(keptFileOf(work), { force: true });
          return {};
        },
      },
    },
    restore: async () => undefined,
    close: async () => undefined,
  };
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
