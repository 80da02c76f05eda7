import { mkdirSync } from "node:fs";
import { readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a driver knows of its resources: a JSON file for each, named by the id of the resource. */
export interface Records<State> {
  all(): Promise<[id: string, state: State][]>;
  get(id: string): Promise<State | undefined>;
  put(id: string, state: State): Promise<void>;
  delete(id: string): Promise<void>;
}

export function openRecords<State>(directory: string): Records<State> {
  mkdirSync(directory, { recursive: true });
  const fileOf = (id: string) => join(directory, `${id}.json`);
  const read = async (id: string) => JSON.parse(await readFile(fileOf(id), "utf8")) as State;
  const ids = async () =>
    (await readdir(directory)).filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -5));
  return {
    all: async () => Promise.all((await ids()).map(async (id) => [id, await read(id)] as [string, State])),
    get: async (id) => ((await ids()).includes(id) ? read(id) : undefined),
    async put(id, state) {
      // Replaces the file as a whole, so that a kill leaves no half of one.
      await writeFile(`${fileOf(id)}.new`, JSON.stringify(state));
      await rename(`${fileOf(id)}.new`, fileOf(id));
    },
    async delete(id) {
      await Promise.all([fileOf(id), `${fileOf(id)}.new`].map((file) => rm(file, { force: true })));
    },
  };
}
