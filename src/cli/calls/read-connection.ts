import type { ClientConfig } from "../../client-settings.ts";
import { readServerAddress } from "../../files/server-address.ts";
import { operatorKeyFile } from "../../installation/operator-key-file.ts";
import { isLoopback } from "../client/http/service-url.ts";
import { ImportError } from "../import-error.ts";
import { readBoundedFile } from "../file/read-bounded-file.ts";

/** The address of the service, and the credentials. */
export interface Connection {
  readonly url: string;
  readonly apiKey: string;
  readonly keySource: string;
}

const defaultUrl = "http://localhost:8080";
const maxKeyFileBytes = 4_096;

/**
 * @param options from the command line, which take precedence over the environment.
 * @throws ImportError that says how to provide a missing or invalid setting.
 */
export async function readConnection(
  options: { readonly server?: string; readonly url?: string; readonly keyFile?: string },
  config: ClientConfig,
): Promise<Connection> {
  const named = options.server ?? options.url ?? config.url;
  const source = options.server === undefined ? (options.url === undefined ? "TENANTRY_URL" : "--url") : "--server";
  if (options.keyFile === undefined && config.apiKey !== undefined) {
    const url = readUrl(named ?? defaultUrl, source);
    return { url, apiKey: readKey(config.apiKey, "TENANTRY_API_KEY"), keySource: "TENANTRY_API_KEY" };
  }
  const file = options.keyFile ?? operatorKeyFile(config.dataDirectory);
  const bytes = await readBoundedFile(file, maxKeyFileBytes).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportError(
      `No API key: ${reason}. The service writes its operator's key to operator-key in its data directory; give that file with --key-file, or a key in TENANTRY_API_KEY.`,
      { cause: error instanceof Error ? error.cause : undefined },
    );
  });
  // Only the key of a data directory goes to what its server has noted there.
  const noted = named ?? (options.keyFile === undefined ? await readServerAddress(config.dataDirectory) : undefined);
  const url = readUrl(noted ?? defaultUrl, source);
  if (options.keyFile === undefined && !isLoopback(new URL(url))) {
    throw new ImportError(
      `The operator's key in ${file} is sent to this machine only, and ${source} is ${url}. Give --key-file ${file} to send it there, or another key in TENANTRY_API_KEY.`,
    );
  }
  return { url, apiKey: readKey(bytes.toString("utf8"), file), keySource: file };
}

function readUrl(text: string, source: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ImportError(`${source} must be a URL such as http://localhost:8080, got ${JSON.stringify(text)}`);
  }
  return text.replace(/\/+$/, "");
}

/** Checks that a key can be sent in a header: it is one word of printable ASCII. */
function readKey(text: string, source: string): string {
  const key = text.trim();
  if (!/^[!-~]+$/.test(key)) throw new ImportError(`${source} does not hold an API key`);
  return key;
}
