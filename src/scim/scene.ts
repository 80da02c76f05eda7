// What the reads and writes of users and groups work with.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Schema } from "../database/schema.ts";
import { formatPath } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Source } from "./source.ts";

export interface Scene {
  readonly db: Kysely<Schema>;
  readonly source: Source;
  /** The URL below which resources are: `https://cloud.example.com/scim/v2/orgs/acme`. */
  readonly base: string;
}

/** A write, under the lock of the org. Its calls share its transaction. */
export interface WriteScene extends Scene {
  /** When the lock was taken, by the database's clock. */
  readonly time: Date;
  readonly call: <Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
  ) => Promise<MessageShape<Output>>;
}

export const orgPath = ({ source }: Scene): string => formatPath(patterns.Org, `@${source.orgId}`);

export const memberPath = ({ source }: Scene, id: string): string =>
  formatPath(patterns.Member, `@${source.orgId}`, `@${id}`);

export const groupPath = ({ source }: Scene, id: string): string =>
  formatPath(patterns.Group, `@${source.orgId}`, `@${id}`);
