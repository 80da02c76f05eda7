import { Code, ConnectError } from "@connectrpc/connect";

/** How often a visible screen asks how far providers are: claims and progress are not in the log that screens follow. */
const lookAgainMs = 2_000;

/** With one of these, the same is refused again, and what is refused is in the security log. */
const final = new Set([Code.PermissionDenied, Code.NotFound]);

interface Asked<Data> {
  readonly state: { readonly data: Data | undefined; readonly error: unknown };
}

/** Returns when to ask again: soon while something is under way, as far as the person may still see it. */
export const lookingAgainWhile =
  <Data>(isUnderWay: (data: Data) => boolean) =>
  ({ state: { data, error } }: Asked<Data>): number | false => {
    const isRefused = error !== null && final.has(ConnectError.from(error).code);
    return data !== undefined && isUnderWay(data) && !isRefused && lookAgainMs;
  };
