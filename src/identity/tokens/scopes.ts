// The scopes of tokens: `<area>.<collection>.<verb>`, `<area>.<collection>.*` and `<area>.*`, which name permissions; `*` for all.
const part = "[a-z][A-Za-z0-9]*";
const pattern = new RegExp(`^${part}\\.(?:\\*|${part}\\.(?:\\*|${part}))$`);

/** The longest list of scopes, in characters, as it is in the token. */
const maxLength = 1_000;

/** The scope of tokens that are not narrowed. */
export const everything = "*";

/** Returns why scopes cannot be those of a token; undefined if they can. */
export function findScopeProblem(scopes: readonly string[]): string | undefined {
  return findProblem(
    scopes.filter((scope) => scope !== everything),
    "<area>.<collection>.<verb>, <area>.<collection>.*, <area>.* or *",
  );
}

/**
 * Returns why scopes cannot be those of an API key or a client, which has all without any; undefined if they can.
 *
 * @param withoutAny says that, for the error.
 */
export function findNarrowScopeProblem(scopes: readonly string[], withoutAny: string): string | undefined {
  if (scopes.includes(everything)) return `must name areas, collections or permissions; ${withoutAny}`;
  return findProblem(scopes, "<area>.<collection>.<verb>, <area>.<collection>.* or <area>.*");
}

function findProblem(scopes: readonly string[], forms: string): string | undefined {
  const wrong = scopes.find((scope) => !pattern.test(scope));
  if (wrong !== undefined) return `must be ${forms}, got ${JSON.stringify(wrong.slice(0, 128))}`;
  return formatScopes(scopes).length > maxLength ? `must have at most ${maxLength} characters together` : undefined;
}

/** Returns the scopes as one text; `*` for undefined. */
export function formatScopes(scopes: readonly string[] | undefined): string {
  return scopes?.join(" ") ?? everything;
}

/** Returns the scopes in a text; undefined for all. */
export function parseScopes(text: string): readonly string[] | undefined {
  const scopes = text.split(" ").filter((scope) => scope !== "");
  return scopes.includes(everything) ? undefined : scopes;
}
