import { existsSync } from "node:fs";

/**
 * Returns the nearest folder above this file in which a path exists, as a URL. The sources, the JavaScript of the npm package and
 * the bundle are at different depths below what they read.
 *
 * @throws Error if there is none.
 */
export function folderWith(path: string): URL {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL(path, folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) throw new Error(`there is no ${path} in a folder above ${import.meta.url}`);
    folder = parent;
  }
  return folder;
}
