// What the command line knows of the API: a table that scripts/command-line.ts makes from the protos, since to read descriptors takes
// longer than a whole command.

/** What a field holds, apart from lists and maps; an array has the values of an enum. */
export type FieldType = "string" | "boolean" | "integer" | "number" | "time" | "duration" | "json" | readonly string[];

export interface Field {
  /** As in JSON: `display_name`. */
  readonly name: string;
  readonly type: FieldType;
  /** Unset for a single value. The keys of maps are strings. */
  readonly shape?: "list" | "map";
  /** Unset for a field that can be set and changed. */
  readonly mode?: "required" | "output" | "immutable";
  /** The first sentence of its comment. */
  readonly help: string;
}

/** A method at one of its addresses. */
export interface Method {
  /** The name of the RPC: `GetMember`. */
  readonly name: string;
  /** What it does: `get`, `list`, `create`, `update` and `delete` as the AIPs define them, or its own verb: `revokeTokens`. */
  readonly verb: string;
  readonly http: string;
  /** What its address begins with: `/iam/v1alpha/`. */
  readonly base: string;
  /** The collections, with `*` for a name: `orgs/*\/members`. */
  readonly path: string;
  /** What follows the path: empty, or `:revokeTokens`. */
  readonly suffix: string;
  /** The field of the request that is the body; `*` for all that is not in the path, and empty for none. */
  readonly body: string;
  /** The message that the body is, if it is a field of the request. */
  readonly resource?: string;
  /** The fields of the request that are neither in the path nor the body. A name alone is a field that methods share: `filter`. */
  readonly fields: readonly (Field | string)[];
  /** The message that it returns; unset for a list. */
  readonly output?: string;
  /** The field of a list with its items. */
  readonly items?: string;
  /** The message of an item of a list; unset if items are texts. */
  readonly item?: string;
  readonly help: string;
}

/** A part of the file of an org. */
export interface FilePart {
  /** Its key in the part that it is in; empty for the file itself. */
  readonly key: string;
  readonly help: string;
  /** The message whose fields it, or each of its entries, has. */
  readonly message?: string;
  /** Which of them. */
  readonly fields: readonly string[];
  /** What else it has. */
  readonly parts: readonly FilePart[];
}

export interface Contract {
  readonly methods: readonly Method[];
  /** The fields of the messages that methods return or take as bodies. */
  readonly messages: Readonly<Record<string, readonly Field[]>>;
  /** For resources that are named after another one, the field with its path, and its collections: `member_path`, `orgs/*\/members/*`. */
  readonly namedBy: Readonly<Record<string, readonly [field: string, path: string]>>;
  /** The names of the roles that every org has. */
  readonly predefinedRoles: readonly string[];
  /** What the file of an org can have. */
  readonly file: FilePart;
}
