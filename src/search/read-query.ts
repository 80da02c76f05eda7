/** What a text may be, for a search. A text may be several of these. */
export interface SearchQuery {
  /** The segments of a path: `["orgs", "acme", "members", "alice"]`. */
  readonly path: readonly string[] | undefined;
  readonly id: string | undefined;
  /** The prefix of an API key. */
  readonly keyPrefix: string | undefined;
  /** The start of a name. */
  readonly name: string | undefined;
  /** Starts of a display name. */
  readonly displayNames: readonly string[];
}

const uuid = /^@?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** Of an API key, wherever it is in what was pasted: after `Bearer `, in quotes, or in a line of a configuration. */
const keyPrefix = /tenantry_[0-9A-Za-z]{12}/;

/** The longest display name, in characters. */
const maxDisplayName = 512;

/** What precedes a path in the addresses of the API and of the console. */
const before = /^(?:https?:\/\/[^/?#]*)?(?:\/(?:console|[a-z]+\/v\d+[a-z]*))?\//;

export function readQuery(text: string): SearchQuery {
  const trimmed = text.trim();
  const [, id] = uuid.exec(trimmed) ?? [];
  const [prefix] = keyPrefix.exec(trimmed) ?? [];
  // The rest of a key is a secret, with which nothing is compared.
  if (prefix !== undefined) return { ...nothing, keyPrefix: prefix };
  return {
    ...nothing,
    path: readPath(trimmed),
    id: id?.toLowerCase(),
    name: readName(trimmed),
    displayNames: readDisplayNames(trimmed),
  };
}

const nothing: SearchQuery = {
  path: undefined,
  id: undefined,
  keyPrefix: undefined,
  name: undefined,
  displayNames: [],
};

/** A path has collections and names in turn. */
function readPath(text: string): readonly string[] | undefined {
  const [path = ""] = text.replace(before, "").split(/[?#]/);
  const segments = path.split("/");
  return segments.length % 2 === 0 && segments.every((segment) => /^[\w@.~%-]+$/.test(segment)) ? segments : undefined;
}

function readName(text: string): string | undefined {
  const name = text.toLowerCase().replaceAll(/[\s_]+/g, "-");
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name) ? name : undefined;
}

/** A text that is longer than every display name begins none. In a filter, it could be longer than a filter may be. */
function readDisplayNames(text: string): readonly string[] {
  return text === "" || Array.from(text).length > maxDisplayName ? [] : [...new Set([text, upperFirst(text)])];
}

function upperFirst(text: string): string {
  const [first = ""] = text;
  return `${first.toUpperCase()}${text.slice(first.length)}`;
}
