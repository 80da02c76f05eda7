// Writes gen/resource-types.ts: constants with exact types for the names and patterns of all resources that the protos declare
// with `google.api.resource`. Path parsing and the definitions of resources use them.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMessage, createFileRegistry, fromBinary, getOption, hasOption } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { resource } from "../gen/google/api/resource_pb.ts";
import { identifier_names, shares_id } from "../gen/iam/v1alpha/resource_options_pb.ts";
import { isSingleton } from "./proto-forms/resources.ts";

const root = join(import.meta.dirname, "..");

/** The names and patterns of a resource in its proto. */
interface ResourceType {
  readonly name: string;
  readonly singular: string;
  readonly plural: string;
  /** The service area, which is the first part of its package: `iam`. */
  readonly area: string;
  /** Whether its id is the id of another resource, so that it can exist in several parents. */
  readonly sharesId: boolean;
  /** Whether its names are identifiers, with underscores. */
  readonly identifierNames: boolean;
  /** The collections in each pattern, from the top. */
  readonly patterns: readonly (readonly string[])[];
}

/** A resource of which each of its parents has exactly one, without a name (AIP-156): `orgs/{org}/quota`. */
interface Singleton {
  readonly name: string;
  /** The collections in the pattern of each parent, from the top. */
  readonly parents: readonly (readonly string[])[];
  /** The last segment of its paths. */
  readonly segment: string;
}

interface Declared {
  readonly types: readonly ResourceType[];
  readonly singletons: readonly Singleton[];
  readonly singulars: ReadonlyMap<string, string>;
}

function readResources(): Declared {
  const image = execFileSync(
    join(root, "node_modules/.bin/buf"),
    ["build", "proto", "--as-file-descriptor-set", "-o", "-"],
    {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  const types: ResourceType[] = [];
  const singletons: Singleton[] = [];
  const singulars = new Map<string, string>();
  for (const desc of registry) {
    if (desc.kind !== "message" || !hasOption(desc, resource)) continue;
    if (isSingleton(getOption(desc, resource).pattern)) singletons.push(readSingleton(desc));
    else types.push(readResource(desc, singulars));
  }
  return { types: types.toSorted((one, other) => (one.name < other.name ? -1 : 1)), singletons, singulars };
}

function readSingleton(desc: DescMessage): Singleton {
  const { singular, pattern } = getOption(desc, resource);
  const parents = pattern.map((each) => {
    const segments = each.split("/");
    if (segments.length % 2 === 0 || segments.at(-1) !== singular) {
      throw new Error(`${desc.typeName} has the pattern ${each}, which is no parent followed by ${singular}`);
    }
    return segments.slice(0, -1).filter((_, index) => index % 2 === 0);
  });
  return { name: desc.name, segment: singular, parents };
}

/**
 * Reads the declaration of a resource.
 *
 * @param singulars receives the singular of each collection, `apiKeys` → `apiKey`.
 */
function readResource(desc: DescMessage, singulars: Map<string, string>): ResourceType {
  const { type, singular, plural, pattern } = getOption(desc, resource);
  const name = type.slice(type.indexOf("/") + 1);
  const fail = (problem: string): never => {
    throw new Error(`${desc.file.name}.proto: the google.api.resource of ${desc.typeName} ${problem}`);
  };
  if (name !== desc.name) fail(`has the type ${type}, which does not end in the message's name`);
  if (singular !== lowerFirst(name)) fail(`has the singular ${JSON.stringify(singular)}, not ${lowerFirst(name)}`);
  if (plural === "" || plural === singular) fail("has no plural");
  if (pattern.length === 0) fail("has no pattern");
  const patterns = pattern.map((each) => {
    const segments = each.split("/");
    if (segments.length % 2 !== 0) fail(`has the pattern ${each}, which is no list of collections and variables`);
    return segments.flatMap((collection, index) => {
      if (index % 2 === 1) return [];
      const variable = /^\{([a-z_]+)\}$/.exec(segments[index + 1] ?? "")?.[1] ?? fail(`has the pattern ${each}`);
      const called = toCamelCase(variable);
      const known = singulars.get(collection);
      if (known !== undefined && known !== called)
        fail(`calls one of ${collection} ${called}, others call it ${known}`);
      singulars.set(collection, called);
      return [collection];
    });
  });
  const area = desc.file.proto.package.split(".")[0] ?? "";
  const [sharesId, identifierNames] = [getOption(desc, shares_id), getOption(desc, identifier_names)];
  return { name, singular, plural, area, sharesId, identifierNames, patterns };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function toCamelCase(text: string): string {
  return text.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const { types, singletons, singulars } = readResources();
const listOf = (patterns: readonly (readonly string[])[]): string =>
  `[${patterns.map((pattern) => JSON.stringify(pattern).replaceAll(",", ", ")).join(", ")}]`;
const lines = types.map(({ name, patterns, ...rest }) => {
  const values = Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `  ${name}: { ${values.join(", ")}, patterns: ${listOf(patterns)} },\n`;
});
const ofSingletons = singletons.map(
  ({ name, segment, parents }) => `  ${name}: { segment: "${segment}", parents: ${listOf(parents)} },\n`,
);
const ofCollections = [...singulars]
  .toSorted(([one], [other]) => (one < other ? -1 : 1))
  .map(([collection, singular]) => `  ${collection}: "${singular}",\n`);

writeFileSync(
  join(root, "gen/resource-types.ts"),
  `// Made by scripts/resource-types.ts from the protos. Do not edit.

/** The resources of the API, by their types, as \`google.api.resource\` declares them. */
export const resourceTypes = {
${lines.join("")}} as const;

/** The resources of which each parent has exactly one, by their types. */
export const singletons = {
${ofSingletons.join("")}} as const;

/** What one resource of a collection is called. */
export const singulars = {
${ofCollections.join("")}} as const;
`,
);
