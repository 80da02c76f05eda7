import { type Deprecation, deprecationHeaders } from "../deprecation.ts";
import type { Header } from "./openapi-document.ts";

/** Returns a paragraph: "**Deprecated** since 2027-03-01; it may be gone from 2027-09-01. ..." */
export function describeDeprecation({ since, sunset, replacement, link }: Deprecation): string {
  const end = sunset === undefined ? "." : `; it may be gone from ${dayOf(sunset)}.`;
  const instead = replacement === undefined ? "" : ` Use \`${replacement}\` instead.`;
  const more = link === undefined ? "" : ` [More](${link}).`;
  return `**Deprecated** since ${dayOf(since)}${end}${instead}${more}`;
}

/** `2027-03-01`, in UTC. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

const descriptions: Readonly<Record<string, readonly [name: string, description: string]>> = {
  deprecation: ["Deprecation", "Since when the method is deprecated (RFC 9745), in seconds since 1970."],
  sunset: ["Sunset", "From when the method may be gone (RFC 8594)."],
  link: ["Link", "Where the deprecation is explained."],
};

/** Describes the headers that every response of the method has. */
export function describeDeprecationHeaders(deprecation: Deprecation): Readonly<Record<string, Header>> {
  const described = Object.entries(deprecationHeaders(deprecation)).map(([key, example]) => {
    const [name, description] = descriptions[key] ?? [key, ""];
    return [name, { description, schema: { type: "string" }, example }] as const;
  });
  return Object.fromEntries(described);
}
