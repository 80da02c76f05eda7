import type { ResourceType, SingletonType } from "../paths/patterns.ts";

/** The change of one resource. */
export interface Change {
  readonly type: ResourceType | SingletonType | "SupportAccess" | "Token";
  /**
   * The id of the resource; of a singleton, that of its parent; of a token that was revoked, its `jti`; of what was
   * read with an approved request for support access, that of the request.
   */
  readonly id: string;
  readonly path: string;
  /**
   * The id of the resource directly below the org that this one is, or is in; of what is in no org, that of the one at the top. By it, the
   * changes of a resource and of all below it are found.
   */
  readonly containerId: string;
  /** When the resource ended, if it did by itself, such as a membership that expired. */
  readonly endTime?: Date | null;
  /** The row before and after, in JSON form; null if there is none. */
  readonly before: object | null;
  readonly after: object | null;
}
