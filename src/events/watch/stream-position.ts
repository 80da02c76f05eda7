// From where a stream resumes, as `resume_revision` and `after_revision` write it. While the state of the resources is sent, that is the
// revision of what was sent, and how far: `00000000-0000-0732-9f3c-5b21c7e40d18.Member.<id>`.
import { isRevision } from "../../changes/revision.ts";

/** How far the state was sent: up to a resource of a type, or to the beginning of the type. */
export interface StatePlace {
  readonly type: string;
  /** The ids in the key of the resource; none for the beginning. */
  readonly key: readonly string[];
}

export interface StreamPosition {
  readonly revision: string;
  /** Undefined if all of the state was sent, or none is to be. */
  readonly state: StatePlace | undefined;
}

export function formatPosition(revision: string, state: StatePlace | undefined): string {
  return state === undefined ? revision : [revision, state.type, ...state.key].join(".");
}

/** Returns undefined for a text that is no position. */
export function parsePosition(text: string): StreamPosition | undefined {
  const [revision = "", type, ...key] = text.split(".");
  // Ids have the form of revisions.
  if (![revision, ...key].every(isRevision)) return undefined;
  return { revision, state: type === undefined ? undefined : { type, key } };
}
