// The statements of pages. There are few different ones without a filter in the default order, and they are sent often: each is compiled
// once and, if it reads only one table and the org, planned once. The best plan of any other page depends on its filter, or on how many
// rows the parents have.
import type { Kysely } from "kysely";
import { isUnlimited } from "../../access/evaluation/visibility.ts";
import type { KnownStatement } from "../../database/connection-pool.ts";
import { tablesToOrder } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import type { Column } from "../../filters/filter-fields.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type Listing, type Selection, selectPage } from "./select-page.ts";

export interface PageStatement extends KnownStatement {
  /** The server's settings with which it is planned. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Leaves the planner nothing but to walk an index in the order of the list, and to look up the joined rows one by one. */
const walked = {
  enable_seqscan: "off",
  enable_sort: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/**
 * A plan that is kept is made without the values, and before the tables have grown. So it has to walk the index of the order from the
 * start of the page and look up the joined rows one by one: that costs as much as the page, whatever the values.
 */
export const keptPlan = { plan_cache_mode: "force_generic_plan", ...walked };

/**
 * Each joined row should be looked up in turn. The planner prefers to merge whole tables, by the org alone if its statistics cover
 * rows of only one org, or by the customer alone, because it takes few rows of an org to be of the customer of that org: then each row
 * is compared with each other one.
 */
const oneByOne = { enable_mergejoin: "off" };

/**
 * Without a filter, tables are joined only to read what paths and messages need. So the written order of the joins is right for one
 * parent; across parents, the planner may change it among the first tables, which include those of the paths. To compare all orders of
 * eight joins takes it several times as long as the page. With a filter, the best plan may start at a joined row.
 */
const withoutFilter = {
  inOneParent: { join_collapse_limit: "1" },
  acrossParents: { ...oneByOne, join_collapse_limit: String(tablesToOrder) },
  /**
   * Across what one org has, the index of the order has what a page needs one after the other. The planner starts at the parents instead if it takes
   * them for few: statistics are often older than what was created at once, and each page then reads all of a parent, or all of the org.
   */
  acrossOneOrg: { ...walked, enable_incremental_sort: "off", join_collapse_limit: String(tablesToOrder) },
};

interface Template {
  readonly text: string;
  /** Returns the values of the parameters. */
  readonly valuesOf: (selection: Selection) => unknown[];
}

/**
 * Creates the statements of the pages of a listing.
 *
 * @param db compiles them.
 * @param defaultOrder the columns that order the list by default.
 */
export function createPageStatements<Row>(
  db: Kysely<Schema>,
  listing: Listing<Row>,
  defaultOrder: readonly Column[],
): (selection: Selection) => PageStatement {
  const templates = new Map<string, Template>();

  const isDefault = (order: Selection["order"]): boolean =>
    order.length === defaultOrder.length &&
    order.every(({ column, descending }, index) => column === defaultOrder[index] && !descending);

  const hasTemplate = ({ parent, visible, condition, order, after }: Selection): boolean =>
    parent.every(({ by }) => by === "id") &&
    isUnlimited(visible) &&
    condition.isEmpty &&
    isDefault(order) &&
    (after === undefined || after.length === order.length);

  const settingsFor = ({ parent, condition, order, showDeleted }: Selection): PageStatement["settings"] => {
    if (parent.some(({ by }) => by === "any")) {
      if (!condition.isEmpty) return oneByOne;
      // Deleted rows are read apart, and sorted: they are few, and no index has them alone in this order.
      const isWalked = parent[0]?.by !== "any" && isDefault(order) && !showDeleted;
      return isWalked ? withoutFilter.acrossOneOrg : withoutFilter.acrossParents;
    }
    if (parent.length > 0 && condition.isEmpty) return withoutFilter.inOneParent;
    // What is found by labels is merged.
    return condition.labels.length > 0 ? {} : oneByOne;
  };

  const templateOf = (selection: Selection): Template => {
    const shape = `${selection.showDeleted} ${selection.after !== undefined}`;
    const template = templates.get(shape) ?? compileTemplate(db, listing, selection);
    templates.set(shape, template);
    return template;
  };

  return (selection) => {
    if (hasTemplate(selection)) {
      const { text, valuesOf } = templateOf(selection);
      const { isPlannedOnce } = listing;
      return {
        text,
        values: valuesOf(selection),
        isKept: isPlannedOnce,
        settings: isPlannedOnce ? keptPlan : settingsFor(selection),
      };
    }
    const { sql: text, parameters: values } = selectPage(listing, selection).compile(db);
    return { text, values, isKept: false, settings: settingsFor(selection) };
  };
}

/** Compiles the statement of all pages that differ from one only in their values. */
function compileTemplate<Row>(db: Kysely<Schema>, listing: Listing<Row>, selection: Selection): Template {
  /** The functions that return the values, by the objects that stand for the values while the statement is compiled. */
  const slots = new Map<unknown, (selection: Selection) => unknown>();
  const slot = <Value>(valueOf: (of: Selection) => Value | undefined): Value => {
    const standIn = {};
    slots.set(standIn, valueOf);
    return standIn as Value;
  };
  const page = selectPage(listing, {
    ...selection,
    parent: selection.parent.map((_, level): Reference => ({
      by: "id",
      value: slot(({ parent }) => idIn(parent[level])),
    })),
    after: selection.after?.map((_, index) => slot(({ after }) => after?.[index])),
    limit: slot(({ limit }) => limit),
  });
  const { sql: text, parameters } = page.compile(db);
  const readers = parameters.map((value) => slots.get(value) ?? (() => value));
  return { text, valuesOf: (of) => readers.map((read) => read(of)) };
}

function idIn(reference: Reference | undefined): string | undefined {
  return reference?.by === "id" ? reference.value : undefined;
}
