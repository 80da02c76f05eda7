import { isUtf8 } from "node:buffer";
import { extname } from "node:path";
import { parseDocument, visit } from "yaml";
import { parseJson } from "../../rest/json/parse-json.ts";
import { toPlainJson } from "../../rest/json/plain-json.ts";
import { ImportError } from "../import-error.ts";
import { type FileOptions, type OrganisationFile, checkOrganisationFile } from "./organisation-file.ts";
import { Unquoted } from "./read-shape.ts";
import { readBoundedFile, readBoundedStream } from "./read-bounded-file.ts";

const maxFileBytes = 64 * 1_048_576;

/** The maximum nesting of JSON, which is more than a valid file has. */
const maxDepth = 32;

/** The maximum expansion of YAML aliases: enough for shared parts of a file, but too small for an alias bomb. */
const maxAliasCount = 1_000;

/** Reads and checks an organisation file. `-` is standard input. @throws ImportError with the problems and their places. */
export async function readOrganisationFile(path: string, options: FileOptions = {}): Promise<OrganisationFile> {
  const isStandardInput = path === "-";
  const file = isStandardInput ? "standard input" : path;
  const bytes = isStandardInput
    ? await readBoundedStream(process.stdin, file, maxFileBytes)
    : await readBoundedFile(path, maxFileBytes);
  const text = decode(file, bytes);
  const content: unknown = isJson(file, text) ? readJson(file, text) : readYaml(file, text);
  return checkOrganisationFile(content, file, options);
}

function isJson(file: string, text: string): boolean {
  const extension = extname(file).toLowerCase();
  if (extension === ".json") return true;
  return extension !== ".yaml" && extension !== ".yml" && text.trimStart().startsWith("{");
}

function decode(file: string, bytes: Buffer): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new ImportError(`${file} is written in UTF-16; save it as UTF-8`);
  }
  if (!isUtf8(bytes))
    throw new ImportError(`${file} is not UTF-8: line ${firstBrokenLine(bytes)} contains invalid bytes`);
  return new TextDecoder().decode(bytes);
}

/**
 * Returns the number of the first invalid line. A multi-byte sequence never contains a line feed, so lines can be checked
 * individually.
 */
function firstBrokenLine(bytes: Buffer): number {
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf("\n", start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

function readJson(file: string, text: string): unknown {
  try {
    return toPlainJson(parseJson(text, maxDepth, "the file"));
  } catch (error) {
    throw new ImportError(`${file} is not valid JSON`, { cause: error });
  }
}

function readYaml(file: string, text: string): unknown {
  try {
    const document = parseDocument(text);
    // A warning means an unknown tag, whose meaning would be lost.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    visit(document, {
      Scalar(key, node) {
        const { value, source } = node;
        const isUnquoted = typeof value === "number" || typeof value === "boolean";
        if (key !== "key" && isUnquoted && source !== undefined) node.value = new Unquoted(typeof value, source);
      },
    });
    return document.toJS({ maxAliasCount });
  } catch (error) {
    throw new ImportError(`${file} is not valid YAML`, { cause: error });
  }
}
