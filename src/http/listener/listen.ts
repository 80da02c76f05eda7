import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

interface ListenOptions {
  readonly port: number;
  readonly host: string;
  /** The settings of the address, which an error names. Default: HOST and PORT. */
  readonly settings: string | undefined;
  /** Called with errors once it listens. */
  readonly onError: (error: unknown) => void;
}

/** Lets a server listen. @throws Error that says why it cannot, and which settings to change. */
export function listenOn(server: Server, { port, host, settings, onError }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error) => reject(explainListenError(error, port, host, settings));
    server.once("error", refused);
    try {
      server.listen(port, host, () => {
        server.off("error", refused);
        server.on("error", onError);
        resolve(server.address() as AddressInfo);
      });
    } catch (error) {
      refused(error as Error);
    }
  });
}

/** Returns an error that says why the server cannot listen and which settings to change. */
export function explainListenError(
  error: NodeJS.ErrnoException,
  port: number,
  host: string,
  settings = "HOST and PORT",
): Error {
  const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new Error(`Cannot listen on ${at}: ${why(error)}. Change the settings ${settings}.`, { cause: error });
}

function why({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EADDRINUSE":
      return "the port is in use by another program";
    case "EACCES":
      return "this user may not use the port (ports below 1024 usually need privileges)";
    case "EADDRNOTAVAIL":
      return "the address does not belong to this machine";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host name is unknown";
    case "ERR_SOCKET_BAD_PORT":
      return "a port is a number from 0 to 65535";
    case undefined:
    default:
      return message;
  }
}
