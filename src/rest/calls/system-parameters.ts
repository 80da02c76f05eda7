import type { DescMessage } from "@bufbuild/protobuf";
import { parseQuery } from "../binding/parse-query.ts";
import type { FieldSelection } from "../json/select-fields.ts";
import { invalidFields, quote } from "../errors/rest-error.ts";

/** The format of the response that the caller requests, with what Google's APIs call system parameters. */
export interface Presentation {
  /** The format of the response; overrides `Accept`. */
  readonly alt: Alt | undefined;
  /** Whether JSON has line breaks and indentation. */
  readonly pretty: boolean;
  /** The fields to include (AIP-157); undefined for all. */
  readonly fields: FieldSelection | undefined;
}

export type Alt = "json" | "ndjson" | "sse";

const plain: Presentation = { alt: undefined, pretty: false, fields: undefined };

interface SplitQuery {
  /** The rest of the query, still encoded. */
  readonly query: string;
  readonly presentation: Presentation;
}

/**
 * Compiles a function that extracts `$alt`, `$prettyPrint` and `$fields` from a query. The "$" may be omitted if the request
 * message has no field of that name.
 *
 * @param others names of parameters to drop because they are not meant for the methods, such as the key of a proxy.
 * @returns a function that throws RestError FIELD_INVALID if a system parameter has an invalid value or is repeated.
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
  // A query that contains none of the names and no percent-encoding is returned without being parsed.
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
