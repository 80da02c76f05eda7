import { mkdirSync } from "node:fs";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Driver, type Given, OperationFailure, type Work } from "./driver.ts";

/** Files are whole blocks, so a volume can be larger than was asked for. */
const blockBytes = 4_096;
const size = { kind: "instance_storage", required: true, minimum: 1_048_576, counted: true };

/** Storage volumes: sparse files. The files are all that the driver knows. */
export function createVolumes(directory: string): Driver {
  mkdirSync(directory, { recursive: true });
  const fileOf = ({ resource }: Work) => join(directory, `${resource.id}.img`);

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
          await rm(fileOf(work), { force: true });
          return {};
        },
      },
    },
    restore: async () => undefined,
    close: async () => undefined,
  };
}
