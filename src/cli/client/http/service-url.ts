import { CommandError } from "../command-error.ts";

/**
 * Checks the address of a service, and returns it without a slash at its end.
 *
 * @param source where it comes from, for errors.
 * @throws CommandError for an address to which a credential would be sent in plain text.
 */
export function readServiceUrl(text: string, source: string, isPlainAllowed: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new CommandError(`${source} must be a URL such as https://iam.example.com, got ${JSON.stringify(text)}`);
  }
  if (url.protocol === "http:" && !isLoopback(url) && !isPlainAllowed) {
    const message = `${source} is ${text}: what is sent there, with the credential, can be read by others`;
    throw new CommandError(message, { next: `https://${url.host}, or --plain-http in a network that you trust` });
  }
  return url.href.replace(/\/+$/, "");
}

/** Reports whether two addresses are of one service: the same origin, whichever name this machine has in them. */
export function isSameOrigin(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url !== undefined && isLoopback(url) ? `${url.protocol}//this-machine:${url.port}` : url?.origin;
  });
  return first !== undefined && first === second;
}

/** Reports whether an address is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
