import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-cli-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a file that is removed after the test. */
export async function temporaryFile(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(await temporaryDirectory(), name);
  await writeFile(file, content);
  return file;
}
