// What an org is read with, and what comes of it.
import type { Database } from "../database/database.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import type { FileResource, Identified } from "./file-resources.ts";

/** A resource or limit that there is. A limit has the id of the org or project that it is of. */
export interface StateResource extends FileResource, Pick<Identified, "id" | "createTime"> {}

export interface StateReader {
  readonly ofCaller: InProcess["ofCaller"];
  readonly database: Pick<Database, "reads">;
}
