import { existsSync, readFileSync } from "node:fs";

/** The files of Swagger UI that the reference needs, with their types. Other files of the package are not served. */
export const viewerFiles: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/**
 * Reads one of the files.
 *
 * @param copies a folder that may have copies of them: our npm package has, and does not install theirs.
 */
export function readViewerFile(name: string, copies?: URL): Buffer {
  if (copies !== undefined && existsSync(copies)) return readFileSync(new URL(name, copies));
  // Resolves package.json and not the main module, which would run all of Swagger UI here.
  return readFileSync(new URL(name, import.meta.resolve("swagger-ui-dist/package.json")));
}
