import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { HttpRule } from "../../../src/rest/routing/http-rules.ts";
import { type Draw, pick } from "./draw.ts";
import { drawText } from "./draw-messages.ts";

/** Patterns of a string variable, each with a function that makes a text match it. */
const stringPatterns = [
  { pattern: "", fit: (text: string) => text || "x" },
  { pattern: "=*", fit: (text: string) => text || "x" },
  { pattern: "=books/*", fit: (text: string) => `books/${text.replaceAll("/", "%2F") || "x"}` },
  { pattern: "=*/pages/*", fit: (text: string) => `${text.replaceAll("/", "") || "x"}/pages/${text.length}` },
  { pattern: "=**", fit: (text: string) => text },
  { pattern: "=files/**", fit: (text: string) => `files/${text}` },
] as const;

/** A field that the path binds, and the messages that contain it. */
interface Captured {
  readonly parents: readonly (DescField & { fieldKind: "message" })[];
  readonly field: DescField & { fieldKind: "scalar" | "enum" };
}

/**
 * Draws a rule for the message. The path binds up to two fields; the strings among them get new values that match the
 * pattern.
 */
export function drawMessageRule(draw: Draw, desc: DescMessage, message: Message): HttpRule {
  const captured = new Map<string, Captured>();
  for (let left = draw(3); left > 0; left--) {
    const drawn = drawCaptured(draw, desc);
    if (drawn !== undefined) captured.set([...drawn.parents, drawn.field].map(({ name }) => name).join("."), drawn);
  }
  // Only the last variable may match any number of segments.
  const variables = [...captured].map(([path, { parents, field }], index) => {
    const isLast = index === captured.size - 1;
    const drawn = stringPatterns[draw(isLast ? stringPatterns.length : 4)] ?? stringPatterns[0];
    if (field.scalar !== ScalarType.STRING) return `{${path}}`;
    parents.reduce(childOf, reflect(desc, message)).set(field, drawn.fit(drawText(draw)));
    return `{${path}${drawn.pattern}}`;
  });
  const bodies = desc.fields.filter((field) => !captured.has(field.name) && field.name !== "update_mask");
  const body = pick(draw, ["", "*", bodies[draw(Math.max(bodies.length, 1))]?.name ?? ""]);
  const httpMethod = pick(draw, ["POST", "GET", "PATCH"]);
  const path = `/${["v1", ...variables].join("/")}${pick(draw, ["", ":do"])}`;
  return { httpMethod, path, body, responseBody: "", name: `${httpMethod} ${path}` };
}

/** How many messages are above a captured field at most. Draws may lead around a message that contains itself without an end. */
const maxParents = 8;

function drawCaptured(draw: Draw, desc: DescMessage): Captured | undefined {
  const parents: Captured["parents"][number][] = [];
  for (let message = desc; parents.length <= maxParents;) {
    const field = message.fields[draw(message.fields.length)];
    if (field?.fieldKind === "scalar" || field?.fieldKind === "enum") return { parents, field };
    if (field?.fieldKind !== "message" || field.message.file.proto.package === "google.protobuf") return undefined;
    parents.push(field);
    message = field.message;
  }
  return undefined;
}

function childOf(message: ReflectMessage, field: Captured["parents"][number]): ReflectMessage {
  if (!message.isSet(field)) message.set(field, reflect(field.message));
  return message.get(field);
}
