import { promisify } from "node:util";
import {
  brotliCompress,
  brotliDecompress,
  type CompressCallback,
  constants,
  gunzip,
  gzip,
  type InputType,
} from "node:zlib";
import { quote, RestError } from "../errors/rest-error.ts";

/** Below this size, compression costs more than it saves. */
export const leastCompressedBytes = 1024;

/** The default quality of Brotli is meant for files that are compressed once; 4 is about as fast as gzip, and smaller. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const compressBrotli = promisify(brotliCompress) as (body: InputType, options: object) => Promise<Buffer>;
const compressGzip = promisify(gzip) as (body: InputType) => Promise<Buffer>;

export function compress(body: string | Uint8Array, coding: "br" | "gzip"): Promise<Buffer> {
  return coding === "br" ? compressBrotli(body, brotliOptions) : compressGzip(body);
}

/** Decompresses a body to at most `maxBytes`. */
export type Decompressor = (body: Buffer, maxBytes: number, onRead: (body: Buffer | RestError) => void) => void;

/** By the name of the coding. */
export const decompressors = {
  gzip: (body, maxOutputLength, onRead) => gunzip(body, { maxOutputLength }, toReader(maxOutputLength, onRead)),
  br: (body, maxOutputLength, onRead) => brotliDecompress(body, { maxOutputLength }, toReader(maxOutputLength, onRead)),
} satisfies Readonly<Record<string, Decompressor>>;

/**
 * Returns the decompressor for a `Content-Encoding`; undefined for a body that is not compressed.
 *
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function decompressorOf(encoding = "identity"): Decompressor | undefined {
  const name = encoding.trim().toLowerCase();
  switch (name) {
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return decompressors.gzip;
    case "br":
      return decompressors.br;
    default: {
      const message = `the body must be compressed with gzip or br, or not at all, got content encoding ${quote(name)}`;
      throw new RestError("CONTENT_ENCODING_UNSUPPORTED", message, { headers: { "accept-encoding": "gzip, br" } });
    }
  }
}

function toReader(maxBytes: number, onRead: (body: Buffer | RestError) => void): CompressCallback {
  return (error, inflated) => {
    if (error === null) onRead(inflated);
    else if ("code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      onRead(new RestError("BODY_TOO_LARGE", `the body must be at most ${maxBytes} bytes long after decompression`));
    } else onRead(new RestError("BODY_MALFORMED", "the body does not match its Content-Encoding"));
  };
}

/** Checks whether a body benefits from compression: text does; images are compressed already. */
export function isCompressible(contentType: string): boolean {
  return /^(text\/|application\/(json|javascript|xml|x-ndjson)|image\/svg)|\+(json|xml)\b/.test(contentType);
}
