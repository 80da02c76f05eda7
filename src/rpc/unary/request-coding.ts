import { Code, ConnectError } from "@connectrpc/connect";
import { type Decompressor, decompressors } from "../../rest/calls/content-coding.ts";
import { quote } from "../../rest/errors/rest-error.ts";

const codings = Object.keys(decompressors).join(",");

/**
 * Returns the decompressor of a coding; undefined if the message is not compressed, and UNIMPLEMENTED for an unknown coding.
 *
 * @param accepting the response header in which the codings are listed, with an error.
 */
export function findDecompressor(
  coding: string | string[] | undefined,
  accepting: string,
): Decompressor | ConnectError | undefined {
  if (coding === undefined || coding === "identity" || coding === "") return undefined;
  if (coding === "gzip" || coding === "br") return decompressors[coding];
  return new ConnectError(`the compression ${unknownCoding(coding)}`, Code.Unimplemented, { [accepting]: codings });
}

export function unknownCoding(coding: string | string[] | undefined): string {
  return `must be one of ${codings}, or none, got ${quote(String(coding))}`;
}
