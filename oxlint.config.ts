// The configuration of the linter, with type-aware rules. Besides the usual rules, it enforces the layers: imports point
// downwards only.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "oxlint";

const sources = join(import.meta.dirname, "src");

/** From the top. A folder or file may import only from lower layers; those in the same layer may import each other. */
const layers: readonly (readonly string[])[] = [
  ["main.ts"],
  ["server.ts", "request-handler.ts", "service-listener.ts", "compose", "cli"],
  ["metrics"],
  ["authzen", "console", "org-files", "scim", "search", "sign-in"],
  [
    "config.ts",
    "database-settings.ts",
    "client-settings.ts",
    "mail-settings.ts",
    "read-settings.ts",
    "setting-types.ts",
    "trace-settings.ts",
    "http",
    "rpc",
    "installation",
  ],
  ["resource-registry.ts", "jobs", "events"],
  ["resources"],
  ["iam"],
  ["quotas"],
  ["standard-methods"],
  ["access"],
  ["changes", "identity"],
  ["filters", "json-schema", "validation"],
  ["database"],
  ["paths"],
  ["timers", "scheduling", "tracing"],
  ["errors", "files", "measures"],
];

/**
 * The folders of service areas, by the first part of their packages. They contain a folder for each resource, files that several
 * resources share, and the folders listed here, whose services span resources, or which some resources share.
 */
const areas: Readonly<Record<string, readonly string[]>> = {
  iam: [
    "access-checks",
    "account",
    "authorization-codes",
    "findings",
    "mails",
    "me",
    "quotas",
    "sign-in",
    "tokens",
    "usage",
  ],
  resources: ["providers", "sweeps"],
};

/** Resources that use one of these folders, by their own: requests about quotas change quotas, and some resources send mails. */
const users: Readonly<Record<string, string>> = { "quota-requests": "quotas", contacts: "mails", members: "mails" };

/** The transcoder is outside of the layers: any Connect service may use it, and it does not depend on the service. */
const aside = "rest";
const usersOfAside: readonly string[] = [...layers.slice(0, 2).flat(), "console", "rpc"];

/** What of the transcoder all may use: the grammar of field masks, and the values of enums that errors offer. */
const shared = "(field-paths|value-names).ts";

const everything = [...layers.flat(), aside];

// A folder without a layer would not be checked.
for (const part of readdirSync(sources)) {
  if (!everything.includes(part)) throw new Error(`src/${part} is in none of the layers of oxlint.config.ts`);
}

for (const [area, others] of Object.entries(areas)) {
  for (const folder of foldersIn(area)) {
    if (!others.includes(folder) && !isResource(join(sources, area, folder))) {
      throw new Error(
        `src/${area}/${folder} has no definition.ts and service.ts, and oxlint.config.ts does not name it`,
      );
    }
  }
}

function foldersIn(area: string): string[] {
  const entries = readdirSync(join(sources, area), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function isResource(folder: string): boolean {
  const hasDefinition = readdirSync(folder).some((file) => file.endsWith("definition.ts"));
  return hasDefinition && existsSync(join(folder, "service.ts"));
}

function forbid(files: string, targets: readonly string[], message: string, climb = "(\\.\\.?/)+") {
  // Matches a relative import that climbs to src/ and enters one of the targets.
  const regex = `^${climb}(${targets.map((target) => target.replace(".", "\\.")).join("|")})(/|$)`;
  return {
    files: [files],
    rules: { "no-restricted-imports": ["error", { patterns: [{ regex, message }] }] as const },
  };
}

/** Returns what a folder or file must not import. What has the name of a folder of an area is one level above that. */
function targetsAbove(part: string): readonly string[] {
  const index = layers.findIndex((layer) => layer.includes(part));
  const above = layers.slice(0, index).flat();
  const targets = usersOfAside.includes(part) ? above : [...above, `${aside}(?!/${shared})`];
  const inside = part in areas ? foldersIn(part) : [];
  return targets.map((target) => (inside.includes(target) ? `../${target}` : target));
}

const directions = layers
  .slice(1)
  .flat()
  .map((part) =>
    forbid(
      part.endsWith(".ts") ? `src/${part}` : `src/${part}/**`,
      targetsAbove(part),
      "Imports run downwards; oxlint.config.ts has the layers.",
    ),
  );

/** Rules for the folders of resources. They repeat the rules of their area, because the linter applies only the last of two. */
const areaRules = Object.entries(areas).flatMap(([area, others]) =>
  foldersIn(area)
    .filter((folder) => !others.includes(folder))
    .map((folder) =>
      forbid(
        `src/${area}/${folder}/**`,
        [...targetsAbove(area), ...others.filter((other) => users[folder] !== other)],
        "Imports run downwards, and a resource uses no service about resources; oxlint.config.ts has both.",
      ),
    ),
);

/** The transcoder has folders with the same names as layers, so each rule requires that the import climbs to src/. */
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
  // Generated; and what imports packages that only `npm run mutate` installs.
  ignorePatterns: ["gen/**", "test/rest/gen/**", "test/conformance/gen/**", "scripts/mutation/runner.ts"],
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "typescript/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    // Writes are sequential on purpose. The types of rows and JSON are asserted where they are read.
    "no-await-in-loop": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/consistent-function-scoping": "off",
    "oxc/no-map-spread": "off",
    "import/no-named-as-default-member": "off",
    "typescript/consistent-return": "off",
  },
  overrides: [
    ...directions,
    ...areaRules,
    ...asideRules,
    { files: ["*.config.ts", "test/support/global-setup.ts"], rules: { "import/no-default-export": "off" } },
    {
      files: ["test/**"],
      rules: {
        "typescript/unbound-method": "off",
        "max-lines": ["error", { max: 500, skipBlankLines: false, skipComments: false }],
      },
    },
  ],
});
