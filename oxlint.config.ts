// The linter, with types. Beside the usual rules it holds the layers: imports run downwards only.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "oxlint";

const sources = join(import.meta.dirname, "src");

/** The folders of resources: those with a definition and a service. */
const resources = readdirSync(sources).filter(
  (folder) =>
    existsSync(join(sources, folder, "service.ts")) &&
    readdirSync(join(sources, folder)).some((file) => file.endsWith("definition.ts")),
);

/** From the top; a folder or file imports only from those below it. Those of one line may use each other. */
const layers: readonly (readonly string[])[] = [
  ["main.ts"],
  ["server.ts", "request-handler.ts", "start-database.ts", "operator-key-file.ts", "cli"],
  ["config.ts", "http", "rpc", "installation"],
  ["access-checks", "catalog.ts"],
  [...resources, "purge"],
  ["access", "resource"],
  ["changes", "identity"],
  ["filters"],
  ["database"],
  ["paths"],
  ["errors"],
];

/** The transcoder stands aside: any Connect service may use it, and it uses nothing of ours. */
const aside = "rest";

const everything = [...layers.flat(), aside];

// A folder that no layer has would be held to nothing.
for (const part of readdirSync(sources)) {
  if (!everything.includes(part)) throw new Error(`src/${part} is in none of the layers of oxlint.config.ts`);
}

function forbid(files: string, targets: readonly string[], message: string, climb = "(\\.\\.?/)+") {
  // A relative import that climbs to src/ and then goes into one of them.
  const regex = `^${climb}(${targets.map((target) => target.replace(".", "\\.")).join("|")})(/|$)`;
  return {
    files: [files],
    rules: { "no-restricted-imports": ["error", { patterns: [{ regex, message }] }] as const },
  };
}

const directions = layers.flatMap((layer, index) => {
  const above = layers.slice(0, index).flat();
  return layer
    .filter(() => above.length > 0)
    .map((part) =>
      forbid(
        part.endsWith(".ts") ? `src/${part}` : `src/${part}/**`,
        index > 1 ? [...above, aside] : above,
        "Imports run downwards; oxlint.config.ts has the layers.",
      ),
    );
});

/** Its own folders have names that the layers have too, so each depth climbs as far as src/ and no less. */
const asideRules = [0, 1, 2].map((depth) =>
  forbid(
    `src/${aside}/${"*/".repeat(depth)}*.ts`,
    everything.filter((part) => part !== aside),
    "src/rest uses nothing of ours but gen/google.",
    `(\\.\\./){${depth + 1},}`,
  ),
);

export default defineConfig({
  plugins: ["typescript", "import", "unicorn", "oxc"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  ignorePatterns: ["gen/**", "test/rest/gen/**"],
  rules: {
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "typescript/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    // Writes go one after the other on purpose, and rows and JSON are typed where they come in.
    "no-await-in-loop": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/consistent-function-scoping": "off",
    "oxc/no-map-spread": "off",
    "import/no-named-as-default-member": "off",
    "typescript/consistent-return": "off",
  },
  overrides: [
    ...directions,
    ...asideRules,
    { files: ["*.config.ts", "test/support/global-setup.ts"], rules: { "import/no-default-export": "off" } },
    { files: ["test/**"], rules: { "typescript/unbound-method": "off", "max-lines": "off" } },
  ],
});
