import { readFile } from "node:fs/promises";
import { YAMLParseError, parse } from "yaml";
import { CommandError } from "../command-error.ts";
import type { Host } from "../host.ts";
import { recordOf } from "../http/service-error.ts";
import { firstLine } from "./field-values.ts";
import type { SourceText } from "./file-places.ts";

const maxBytes = 1_048_576;

/**
 * Reads fields from a file of YAML or JSON; `-` is standard input.
 *
 * @returns no fields without a file.
 * @throws CommandError
 */
export async function readFields(host: Host, file: string | undefined): Promise<Record<string, unknown>> {
  return file === undefined ? {} : parseFields(await readSource(host, file));
}

/** Reads a file; `-` is standard input. @throws CommandError */
export async function readSource(host: Host, file: string): Promise<SourceText> {
  return file === "-"
    ? { name: "standard input", text: await host.readInput() }
    : { name: file, text: await readText(file) };
}

/** @throws CommandError for what is no object of fields. */
export function parseFields({ text, name }: SourceText): Record<string, unknown> {
  let value: unknown;
  try {
    // An alias in YAML can make little text long.
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const at = line === undefined ? name : `${name}:${line}`;
    const why = firstLine(error).replace(/ at line \d+, column \d+:?$/, "");
    throw new CommandError(`${at}: must be YAML or JSON: ${why}`, { cause: error });
  }
  const fields = recordOf(value);
  if (fields === undefined) throw new CommandError(`${name} must have fields, such as display_name: Dora`);
  return { ...fields };
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new CommandError(`${file} cannot be read: ${why}`, { cause: error });
  });
  if (bytes.length > maxBytes)
    throw new CommandError(`${file} is larger than a megabyte, which the service does not accept`);
  return bytes.toString("utf8");
}
