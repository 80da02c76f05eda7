import type { DescMessage } from "@bufbuild/protobuf";
import type { Parameter, Reference } from "./openapi-document.ts";

/** The parameters that ask for an answer in another form; `calls/system-parameters.ts` reads them. */
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
      "Answer only these fields (AIP-157): paths with commas between them. The answer then lacks the others, also those that its schema requires.",
    schema: { type: "string" },
  },
  PlainFields: {
    name: "$fields",
    in: "query",
    description:
      "Answer only these fields (AIP-157): paths with commas between them. The answer then lacks the others, also those that its schema requires.",
    schema: { type: "string" },
  },
  Alt: {
    name: "$alt",
    in: "query",
    description:
      "The form of the stream, in place of what `Accept` says: an array (`json`), a message a line (`ndjson`) or server-sent events (`sse`).",
    schema: { type: "string", enum: ["json", "ndjson", "sse"] },
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export type SystemParameterName = keyof typeof systemParameters;

/** @param answers what the method answers: JSON, a stream of it, or something that has no such forms. */
export function systemParametersOf(input: DescMessage, answers: "json" | "stream" | "other"): SystemParameterName[] {
  if (answers === "other") return [];
  const isTaken = input.fields.some((field) => field.name === "fields" || field.jsonName === "fields");
  const shared: SystemParameterName[] = ["PrettyPrint", isTaken ? "PlainFields" : "Fields"];
  return answers === "stream" ? ["Alt", ...shared] : shared;
}

export function referToParameter(name: SystemParameterName): Reference {
  return { $ref: `#/components/parameters/${name}` };
}
