import type { JsonValue } from "@bufbuild/protobuf";
import { type RestCall, isObject } from "./rest-call.ts";
import { quote, shellJson } from "./shell-word.ts";

/**
 * Returns a curl command. The credential is a variable of the shell.
 *
 * @param origin such as `https://iam.example.com`
 */
export function curlOf({ verb, path, rest, body }: RestCall, origin: string): string {
  const search = new URLSearchParams(queryOf(rest)).toString();
  const url = `${origin}${path}${search === "" ? "" : `?${search}`}`;
  const parts = ["curl", ...(verb === "GET" || (verb === "POST" && body !== undefined) ? [] : ["-X", verb])];
  parts.push("-H", '"Authorization: Bearer $TENANTRY_API_KEY"');
  if (body !== undefined) parts.push("-H", quote("Content-Type: application/json"), "-d", quote(shellJson(body)));
  return [...parts, quote(url)].join(" ");
}

/** Returns the parameters of an address: those of a field with several values, one after the other. */
export function queryOf(rest: RestCall["rest"]): [name: string, value: string][] {
  return Object.entries(rest).flatMap(([name, value]) => toQuery(name, value));
}

function toQuery(name: string, value: JsonValue): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => toQuery(name, item));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => toQuery(`${name}.${key}`, item));
  return [[name, String(value)]];
}
