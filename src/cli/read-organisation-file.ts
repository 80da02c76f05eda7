import { isUtf8 } from "node:buffer";
import { extname } from "node:path";
import { parseDocument } from "yaml";
import { ImportError } from "./import-error.ts";
import { type OrganisationFile, checkOrganisationFile } from "./organisation-file.ts";
import { readBoundedFile } from "./read-bounded-file.ts";

const maxFileBytes = 64 * 1_048_576;

/** How often aliases may be followed: enough for what people share in a file, too few to blow it up. */
const maxAliasCount = 1_000;

/**
 * Reads and checks an organisation file.
 *
 * @throws ImportError that says what is wrong, and where.
 */
export async function readOrganisationFile(file: string): Promise<OrganisationFile> {
  const text = decode(file, await readBoundedFile(file, maxFileBytes));
  const content: unknown = isJson(file, text) ? parseJson(file, text) : parseYaml(file, text);
  return checkOrganisationFile(content, file);
}

function isJson(file: string, text: string): boolean {
  const extension = extname(file).toLowerCase();
  if (extension === ".json") return true;
  return extension !== ".yaml" && extension !== ".yml" && text.trimStart().startsWith("{");
}

/** UTF-8, with or without a byte order mark, which some editors write. */
function decode(file: string, bytes: Buffer): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new ImportError(`${file} is written in UTF-16; save it as UTF-8`);
  }
  if (!isUtf8(bytes)) throw new ImportError(`${file} is not UTF-8: line ${firstBrokenLine(bytes)} holds other bytes`);
  return new TextDecoder().decode(bytes);
}

/** No UTF-8 sequence holds the byte of a line feed, so that each line is valid or not by itself. */
function firstBrokenLine(bytes: Buffer): number {
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf("\n", start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(`${file} is not valid JSON`, { cause: error });
  }
}

function parseYaml(file: string, text: string): unknown {
  try {
    const document = parseDocument(text);
    // A warning is about a tag that is not known: what it stands for would be lost.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS({ maxAliasCount });
  } catch (error) {
    throw new ImportError(`${file} is not valid YAML`, { cause: error });
  }
}
