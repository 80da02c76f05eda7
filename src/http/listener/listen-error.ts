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
