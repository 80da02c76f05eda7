// The redirect URIs of clients (RFC 6749, 3.1.2). They are compared as texts; only the port of a loopback address may differ
// (RFC 8252, 7.3).

const maxLength = 2_000;

const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?((?:[/?].*)?)$/;

/** The parameters of responses. A URI that has one already would make them ambiguous. */
const responseParameters = ["code", "state", "iss", "error", "error_description"];

/** Returns why a client cannot have a redirect URI; undefined if it can. */
export function findRedirectUriProblem(text: string): string | undefined {
  if (text.length > maxLength) return `must be at most ${maxLength} characters long`;
  if (!/^[!-~]+$/.test(text) || /[\\#*<>"]/.test(text) || !URL.canParse(text)) {
    return "must be an absolute URI without a fragment, spaces, wildcards and backslashes";
  }
  const { protocol, username, password, searchParams } = new URL(text);
  if (username !== "" || password !== "" || /^\w+:\/\/[^/?]*@/.test(text)) return "must not have a user name";
  const taken = responseParameters.find((name) => searchParams.has(name));
  if (taken !== undefined) return `must not have the parameter ${taken}, which responses have`;
  if (protocol === "https:") return /^https:\/\/[^/?]/.test(text) ? undefined : "must begin with https:// and a host";
  if (protocol === "http:") {
    return loopback.test(text) ? undefined : "must be https, or http with the host 127.0.0.1 or [::1]";
  }
  return protocol.includes(".") ? undefined : "must be https, or have a scheme of the client with a dot in it";
}

/**
 * Reports whether a request may name a redirect URI: one of those of the client, in exactly the same form, apart from the port
 * of a loopback address.
 */
export function isRegisteredUri(registered: readonly string[], text: string): boolean {
  if (registered.includes(text)) return true;
  const [, host, port, rest] = loopback.exec(text) ?? [];
  if (host === undefined || port === undefined || Number(port) > 65_535 || !/^[!-~]*$/.test(text)) return false;
  return registered.some((each) => {
    const [, ownHost, , ownRest] = loopback.exec(each) ?? [];
    return ownHost === host && ownRest === rest;
  });
}
