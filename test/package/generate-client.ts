// Writes a fetch client of an OpenAPI document: node generate-client.ts <document> <folder>
import { registerHooks } from "node:module";

// The generator prints its code through the JavaScript API of TypeScript, which TypeScript 7 no longer has. ts-morph contains
// that of TypeScript 5.
const compiler = `import { ts } from ${JSON.stringify(import.meta.resolve("@ts-morph/common"))}; export default ts;`;
const url = `data:text/javascript,${encodeURIComponent(compiler)}`;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "typescript" ? { url, shortCircuit: true } : next(specifier, context),
});

const { createClient } = await import("@hey-api/openapi-ts");
const [input, path] = process.argv.slice(2);
if (input === undefined || path === undefined) throw new Error("which document, and where to?");
await createClient({
  input,
  output: { path, module: { extension: ".ts" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
  logs: { level: "silent" },
});
