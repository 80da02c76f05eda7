import { type Customer, Customer_State } from "../../../gen/iam/v1alpha/customer_pb.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import { invoiceFields } from "./invoice-fields.ts";
import type { CustomerRow } from "./store.ts";

export function toCustomer(row: CustomerRow): Customer {
  return {
    $typeName: "iam.v1alpha.Customer",
    path: customerPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    ...invoiceFields(row),
    state: row.delete_time === null ? Customer_State.ACTIVE : Customer_State.DELETED,
  };
}

export function customerPath(row: Pick<CustomerRow, "id" | "name" | "delete_time">): string {
  return formatPath(patterns.Customer, pathName(row));
}
