import type { DescMessage } from "@bufbuild/protobuf";
import type { Parameter, Reference } from "./openapi-document.ts";

/** The query parameters that select the format of a response; `calls/system-parameters.ts` reads them. */
export const systemParameters = {
  PrettyPrint: {
    name: "$prettyPrint",
    in: "query",
    description: "Answer JSON with line breaks and indentation.",
    schema: { type: "boolean", default: false },
  },
  Fields: {
    name: "fields",
    in: "query",
    description:
      "Returns only these fields (AIP-157), comma-separated paths. The response omits all others, including those that its schema requires.",
    schema: { type: "string" },
  },
  PlainFields: {
    name: "$fields",
    in: "query",
    description:
      "Returns only these fields (AIP-157), comma-separated paths. The response omits all others, including those that its schema requires.",
    schema: { type: "string" },
  },
  Alt: {
    name: "$alt",
    in: "query",
    description:
      "The format of the stream, instead of `Accept`: an array (`json`), one message per line (`ndjson`) or server-sent events (`sse`).",
    schema: { type: "string", enum: ["json", "ndjson", "sse"] },
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export type SystemParameterName = keyof typeof systemParameters;

/** @param answers the response of the method: JSON, a stream of JSON, or something that system parameters do not affect. */
export function systemParametersOf(input: DescMessage, answers: "json" | "stream" | "other"): SystemParameterName[] {
  if (answers === "other") return [];
  const isTaken = input.fields.some((field) => field.name === "fields" || field.jsonName === "fields");
  const shared: SystemParameterName[] = ["PrettyPrint", isTaken ? "PlainFields" : "Fields"];
  return answers === "stream" ? ["Alt", ...shared] : shared;
}

export function referToParameter(name: SystemParameterName): Reference {
  return { $ref: `#/components/parameters/${name}` };
}
