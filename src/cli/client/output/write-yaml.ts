import { type Document, Scalar, parseDocument, stringify, visit } from "yaml";
import { escapeJson, isUnsafe } from "./escape-text.ts";

/** Writes a value as YAML, without anything that a terminal obeys. */
export function writeYaml(value: unknown): string {
  const text = stringify(value, { lineWidth: 0 });
  if (!isUnsafe(text.replaceAll("\n", ""))) return text;
  const document: Document = parseDocument(text);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && isUnsafe(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeJson(document.toString({ lineWidth: 0 }));
}
