// Collects the licenses of the packages in a bundle, which go with it.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * Returns a text with the licenses and notices of the packages that modules belong to, each text once, below the names of its packages.
 *
 * @param modules paths of files; those that belong to no package are left out.
 * @throws Error that names a package without a license.
 */
export async function collectLicenses(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.flatMap((module) => packageFolder.exec(module)?.[0] ?? []));
  const packagesByText = new Map<string, string[]>();
  for (const folder of [...folders].toSorted()) {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
    const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).toSorted();
    if (license === undefined && files.length === 0) throw new Error(`${name} ${version} has no license`);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const text = texts.length > 0 ? texts.map((each) => each.trim()).join("\n\n") : `Licensed under ${license}.`;
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
  }
  const sections = [...packagesByText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return sections.join(`\n${"-".repeat(80)}\n\n`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}
