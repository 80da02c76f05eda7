import type { DescMessage } from "@bufbuild/protobuf";
import { fieldsPattern } from "./fields-pattern.ts";
import type { Parameter, Reference, Schema } from "./openapi-document.ts";

/** A query parameter that selects the format of a response, which `calls/system-parameters.ts` reads, as a component. */
export interface SystemParameter {
  /** The name of the component. */
  readonly component: string;
  readonly parameter: Parameter;
}

/** The parameters that operations have referred to so far. */
interface SharedParameters {
  readonly refer: (parameter: SystemParameter) => Reference;
  readonly components: () => Readonly<Record<string, Parameter>>;
}

export function createSharedParameters(): SharedParameters {
  const components = new Map<string, Parameter>();
  return {
    refer({ component, parameter }) {
      components.set(component, parameter);
      return { $ref: `#/components/parameters/${component}` };
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const prettyPrint: SystemParameter = {
  component: "PrettyPrint",
  parameter: {
    name: "$prettyPrint",
    in: "query",
    description: "Answer JSON with line breaks and indentation.",
    schema: { type: "boolean", default: false },
  },
};

const alt: SystemParameter = {
  component: "Alt",
  parameter: {
    name: "$alt",
    in: "query",
    description:
      "The format of the stream, instead of `Accept`: an array (`json`), one message per line (`ndjson`) or server-sent events (`sse`).",
    schema: { type: "string", enum: ["json", "ndjson", "sse"] },
  },
};

/** What a method answers: JSON, a stream of JSON, or something that system parameters do not affect. */
export interface Answered {
  readonly kind: "json" | "stream" | "other";
  /** The message, or that of the items of a list; undefined if the answer has no fields to select. */
  readonly message?: DescMessage;
  /** The schema of the message. */
  readonly schema?: Schema;
}

export function systemParametersOf(input: DescMessage, { kind, message, schema }: Answered): SystemParameter[] {
  if (kind === "other") return [];
  const isTaken = input.fields.some((field) => field.name === "fields" || field.jsonName === "fields");
  const fields = message === undefined ? [] : [fieldsParameter(message, schema?.$ref ?? message.name, isTaken)];
  return [...(kind === "stream" ? [alt] : []), prettyPrint, ...fields];
}

/**
 * @param reference to the schema of the message.
 * @param isTaken whether the request has a field of the name `fields`.
 */
function fieldsParameter(message: DescMessage, reference: string, isTaken: boolean): SystemParameter {
  return {
    component: `${reference.split("/").at(-1)}${isTaken ? "PlainFields" : "Fields"}`,
    parameter: {
      name: isTaken ? "$fields" : "fields",
      in: "query",
      description:
        "Returns only these fields (AIP-157), comma-separated paths. The response omits all others, including those that its schema requires.",
      schema: { type: "string", minLength: 1, pattern: fieldsPattern(message) },
    },
  };
}
