// The fields of requests and the messages of reads of the past.
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type AskedMoment, readMoment } from "../../changes/past/asked-moment.ts";
import { invalidField } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";
import {
  type ResourcePlace,
  type ResourceRow,
  type ResourceTable,
  type TypedDefinition,
  isBelowOrg,
} from "../definition/definition.ts";
import { toLoggedMessage, whole } from "../logged-message.ts";
import { rule } from "./open-past.ts";

/** A request has them if what it asks for can be read as it was. */
interface PastFields {
  readonly asOfRevision?: string;
  readonly asOfTime?: Timestamp | undefined;
}

/**
 * Returns the moment that a request asks about; undefined for now.
 *
 * @param path of the resource, or of the parent of a list.
 * @throws ServiceError FIELD_INVALID
 */
export function readAsked(
  { asOfRevision = "", asOfTime }: PastFields,
  place: ResourcePlace,
  [top]: readonly Reference[],
): AskedMoment | undefined {
  const isInOne = isBelowOrg(place) && top !== undefined && top.by !== "any";
  if (!isInOne) requireNow({ asOfRevision, asOfTime });
  return readMomentOf({ asOfRevision, asOfTime });
}

/** Refuses requests for the past of what is not in one org. @throws ServiceError FIELD_INVALID */
export function requireNow(request: PastFields): void {
  const asked = readMomentOf(request);
  if (asked === undefined) return;
  throw invalidField(
    asked.field,
    "must be unset for what is not in one Org, such as orgs/acme: each has its own past",
    rule,
  );
}

const readMomentOf = ({ asOfRevision = "", asOfTime }: PastFields): AskedMoment | undefined =>
  readMoment({ field: "as_of_revision", value: asOfRevision }, { field: "as_of_time", value: asOfTime }, rule);

/** Returns the message of a row of then. An entry of the log that is older than a column has none of it. */
export function toPastMessage<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  definition: TypedDefinition<Table, Row, Desc>,
  row: Row,
): MessageShape<Desc> {
  const message = whole(() => definition.toMessage(row));
  return (
    message ??
    (toLoggedMessage(definition, { ...row } as Record<string, unknown>, definition.pathOf(row)) as MessageShape<Desc>)
  );
}
