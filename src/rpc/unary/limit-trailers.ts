// Many gRPC clients take at most 8 KiB of trailers by default, those in Java and on top of the library in C among them. With more, a
// call fails with an error of the client, which says nothing of the error of the service.
import { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";

/** The rest is for the trailers of the method, such as the id of the request. */
const maxBytes = 7 * 1024;
/** HTTP/2 counts so many for each header, besides its name and value. */
const bytesOfEntry = 32;
/** The message is sent twice: in percent-encoding, and with the details. */
const maxMessageLength = 500;
/** How many items of a list of violations are tried. */
const tries = [64, 32, 16, 8, 4, 2, 1, 0];

/** Returns an error whose trailers clients accept: of long lists of violations, it has the first. */
export function limitTrailers(error: ConnectError): ConnectError {
  if (fits(error)) return error;
  const limited = new ConnectError(shorten(error.rawMessage), error.code, error.metadata, undefined, error.cause);
  for (const items of tries) {
    limited.details = error.details.flatMap((detail) => firstOf(detail, items));
    if (fits(limited)) return limited;
  }
  limited.details = [];
  return limited;
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
  if (!("desc" in detail)) return [detail];
  const list = detail.desc.fields.find(({ fieldKind }) => fieldKind === "list");
  if (list === undefined) return [detail];
  const all = (detail.value as Readonly<Record<string, readonly unknown[]>>)[list.localName] ?? [];
  if (items === 0 && all.length > 0) return [];
  return [{ ...detail, value: { ...detail.value, [list.localName]: all.slice(0, items) } }];
}
