// Copies what `/docs/` shows next to the compiled code, and the OpenAPI document: `node scripts/bundle-docs.ts [DIRECTORY]` (dist by default).
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openApi from "../gen/openapi.json" with { type: "json" };
import { guides } from "../src/http/docs/guides.ts";
import { readViewerFile, viewerFiles } from "../src/http/docs/viewer-files.ts";

const folder = process.argv[2] ?? "dist";
const target = join(folder, "docs");
for (const name of ["browser", ...guides.map(({ file }) => file)]) {
  cpSync(join(import.meta.dirname, "../docs", name), join(target, name), { recursive: true });
}
mkdirSync(join(target, "viewer"), { recursive: true });
for (const name of Object.keys(viewerFiles)) writeFileSync(join(target, "viewer", name), readViewerFile(name));
writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApi));
