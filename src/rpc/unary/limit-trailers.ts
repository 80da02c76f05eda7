// Many gRPC clients take at most 8 KiB of trailers by default, those in Java and on top of the library in C among them. With more, a
// call fails with an error of the client, which says nothing of the error of the service.
import { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** The rest is for the trailers of the method, such as the id of the request. */
const maxBytes = 7 * 1024;
/** HTTP/2 counts so many for each header, besides its name and value. */
const bytesOfEntry = 32;
/** The message is sent twice: in percent-encoding, and with the details. */
const maxMessageLength = 500;
/** How many items of a list of violations are tried. */
const tries = [64, 32, 16, 8, 4, 2, 1, 0];

/** Returns an error whose trailers clients accept: of long lists of violations, it has the first, and says how many it has not. */
export function limitTrailers(error: ConnectError): ConnectError {
  if (fits(error)) return error;
  const message = shorten(error.rawMessage);
  const withDetails = (details: ConnectError["details"], leftOut: number): ConnectError => {
    const said = leftOut === 0 ? message : `${message} (${leftOut} more than the details of this error have)`;
    const limited = new ConnectError(said, error.code, error.metadata, undefined, error.cause);
    limited.details = details.map((detail) => noting(detail, leftOut));
    return limited;
  };
  const all = countItems(error.details);
  for (const items of tries) {
    const details = error.details.flatMap((detail) => firstOf(detail, items));
    const limited = withDetails(details, all - countItems(details));
    if (fits(limited)) return limited;
  }
  return withDetails([], all);
}

function fits(error: ConnectError): boolean {
  let bytes = 0;
  for (const [name, value] of setTrailerStatus(new Headers(), error))
    bytes += name.length + value.length + bytesOfEntry;
  return bytes <= maxBytes;
}

function shorten(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength).toWellFormed()}...`;
}

type Detail = ConnectError["details"][number];

/** Returns a detail with the first items of its list; without any, none. */
function firstOf(detail: Detail, items: number): Detail[] {
  const list = listOf(detail);
  if (list === undefined || !("desc" in detail)) return [detail];
  if (items === 0 && list.all.length > 0) return [];
  return [{ ...detail, value: { ...detail.value, [list.name]: list.all.slice(0, items) } }];
}

function listOf(detail: Detail): { readonly name: string; readonly all: readonly unknown[] } | undefined {
  if (!("desc" in detail)) return undefined;
  const list = detail.desc.fields.find(({ fieldKind }) => fieldKind === "list");
  if (list === undefined) return undefined;
  const name = list.localName;
  return { name, all: (detail.value as Readonly<Record<string, readonly unknown[]>>)[name] ?? [] };
}

function countItems(details: ConnectError["details"]): number {
  return details.reduce((sum, detail) => sum + (listOf(detail)?.all.length ?? 0), 0);
}

/** Returns a detail which says for machines how many items are left out, if it is the one with facts for them. */
function noting(detail: Detail, leftOut: number): Detail {
  if (leftOut === 0 || !("desc" in detail) || detail.desc.typeName !== ErrorInfoSchema.typeName) return detail;
  const { metadata } = detail.value as { readonly metadata?: Readonly<Record<string, string>> };
  return { ...detail, value: { ...detail.value, metadata: { ...metadata, left_out: String(leftOut) } } };
}
