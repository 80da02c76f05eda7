// The keys of the file of an org, from the same tables as the reader of such files has.
import type { Contract, Field, FilePart } from "../contract/contract.ts";
import { type HelpLine, helpColumns } from "./help-lines.ts";

/** Returns what `tenantry help file` prints: all that the file can have, each part below the one that it is in. */
export function fileHelp({ file, messages }: Contract, columns: number): string {
  const lines = partLines(file, messages, "");
  return `The file of an org, in YAML or JSON, for tenantry plan and apply; tenantry export ORG writes one.

  org: acme
  members:
    - alice
    - name: deployer
      type: APPLICATION

An entry is its name alone, or has the keys below. What it does not have is emptied.

${helpColumns([{ title: "  org", help: "The name of the org (required)" }, ...lines], columns)}`;
}

function partLines(
  { key, message, fields, parts }: FilePart,
  messages: Contract["messages"],
  indent: string,
): HelpLine[] {
  const known = messages[message ?? ""] ?? [];
  const inside = `${indent}  `;
  const ofFields = fields.map((name): HelpLine => {
    const field = known.find((each) => each.name === name);
    return { title: `${inside}${name}`, help: field === undefined ? "" : fieldHelp(key, field) };
  });
  const ofParts = parts.flatMap((part): HelpLine[] => [
    {
      title: `${inside}${part.key}${part.message === undefined && part.parts.length === 0 ? "" : ":"}`,
      help: part.help,
    },
    ...partLines(part, messages, inside),
  ]);
  return [...ofFields, ...ofParts];
}

/** What cannot be left out of a help comes first, since long ones are shortened. */
function fieldHelp(section: string, { name, type, mode, help }: Field): string {
  const required = mode === "required" ? "(required) " : "";
  const values = typeof type === "string" ? "" : `${type.join(", ")}: `;
  // A secret is not in a file that is reviewed: file-secrets.ts reads it from where the file says.
  const secret = section === "identity_providers" && name === "client_secret" ? "{env: NAME} or {file: PATH}: " : "";
  return `${required}${values}${secret}${help}`;
}
