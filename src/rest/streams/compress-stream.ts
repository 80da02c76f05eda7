import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { constants, createBrotliCompress, createGzip } from "node:zlib";

/**
 * Returns a stream that compresses what is written to it into the response. Flushes after each write, so that the client can
 * read it immediately. The compression windows are small, because there is one for each active response.
 */
export function compressStream(response: ServerResponse, coding: "br" | "gzip"): Writable {
  const compressor = coding === "br" ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  compressor.pipe(response);
  response.once("close", () => compressor.destroy());
  return compressor;
}

const gzipOptions = { flush: constants.Z_SYNC_FLUSH, windowBits: 13, memLevel: 6 };

const brotliOptions = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 16 },
};
