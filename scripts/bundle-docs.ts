// Copies what `/docs/` shows next to the compiled code: `node scripts/bundle-docs.ts [DIRECTORY]` (dist by default).
import { cpSync } from "node:fs";
import { join } from "node:path";
import { guides } from "../src/http/docs/guides.ts";

const target = join(process.argv[2] ?? "dist", "docs");
for (const name of ["browser", ...guides.map(({ file }) => file)]) {
  cpSync(join(import.meta.dirname, "../docs", name), join(target, name), { recursive: true });
}
