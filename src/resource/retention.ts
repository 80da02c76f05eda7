import { sql } from "kysely";

/** What a deletion writes: the resource stays readable for 30 days. */
export const deletionColumns = {
  delete_time: sql<Date>`now()`,
  purge_time: sql<Date>`now() + interval '30 days'`,
  update_time: sql<Date>`now()`,
};
