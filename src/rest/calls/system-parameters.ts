import type { DescMessage } from "@bufbuild/protobuf";
import { parseQuery } from "../binding/parse-query.ts";
import type { FieldSelection } from "../json/select-fields.ts";
import { invalidFields, quote } from "../errors/rest-error.ts";

/** How a caller wants the answer written; Google's APIs call the parameters for it system parameters. */
export interface Presentation {
  /** The form of the answer, in place of what `Accept` says. */
  readonly alt: Alt | undefined;
  /** With line breaks and indentation. */
  readonly pretty: boolean;
  /** What of it; undefined for all (AIP-157). */
  readonly fields: FieldSelection | undefined;
}

export type Alt = "json" | "ndjson" | "sse";

/** An answer as it is when nothing is asked for. */
const plain: Presentation = { alt: undefined, pretty: false, fields: undefined };

interface SplitQuery {
  /** What is left of the query, as it was written. */
  readonly query: string;
  readonly presentation: Presentation;
}

/**
 * Compiles what takes `$alt`, `$prettyPrint` and `$fields` out of a query, which may be written without the "$" where
 * the request has no field of that name. `others` are passed over: parameters for somebody else, such as a proxy's key.
 *
 * @returns a function that throws RestError FIELD_INVALID for a value that such a parameter does not take.
 */
export function compileSystemParameters(
  input: DescMessage,
  others: readonly string[],
  selectFields: (paths: string) => FieldSelection,
): (query: string) => SplitQuery {
  const own = new Map<string, SystemParameter>();
  for (const name of ["alt", "prettyPrint", "fields"] as const) {
    own.set(`$${name}`, name);
    if (!input.fields.some((field) => field.name === name || field.jsonName === name)) own.set(name, name);
  }
  const passedOver = new Set(others);
  // A query without any of the names, encoded or not, is not taken apart.
  const names = [...own.keys(), ...others].map((name) => name.replaceAll(/[^\w-]/g, ".{1,3}"));
  const mayHold = new RegExp(`(^|&)(${names.join("|")})(=|&|$)|%`);

  return (query) => {
    if (query === "" || !mayHold.test(query)) return { query, presentation: plain };
    const given = new Map<SystemParameter, string>();
    const rest = query.split("&").filter((part) => {
      const [parameter] = parseQuery(part);
      if (parameter === undefined) return false;
      const name = own.get(parameter.name);
      if (name === undefined) return !passedOver.has(parameter.name);
      if (given.has(name)) throw invalidFields([{ field: parameter.name, description: "is given twice" }]);
      given.set(name, parameter.value);
      return false;
    });
    return { query: rest.join("&"), presentation: readPresentation(given, selectFields) };
  };
}

type SystemParameter = "alt" | "prettyPrint" | "fields";

const alts: readonly string[] = ["json", "ndjson", "sse"] satisfies Alt[];

function readPresentation(
  given: ReadonlyMap<SystemParameter, string>,
  selectFields: (paths: string) => FieldSelection,
): Presentation {
  const alt = given.get("alt");
  if (alt !== undefined && !alts.includes(alt)) refuse("$alt", `must be json, ndjson or sse, got ${quote(alt)}`);
  const pretty = given.get("prettyPrint") ?? "false";
  if (pretty !== "true" && pretty !== "false") refuse("$prettyPrint", `must be true or false, got ${quote(pretty)}`);
  const fields = given.get("fields");
  return {
    alt: alt as Alt | undefined,
    pretty: pretty === "true",
    fields: fields === undefined ? undefined : selectFields(fields),
  };
}

function refuse(field: string, description: string): never {
  throw invalidFields([{ field, description }]);
}
