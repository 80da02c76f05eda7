// Finds joins of a table of orgs with `orgs` that do not say that both have the same customer. It follows from the org, which a planner
// cannot know: of distributed tables, such a join compares the rows of all nodes.

const equation = /\b(\w+)\.(org_id|id) = (\w+)\.(org_id|id)\b/g;

/** Tables and the names of `orgs` in statements: `orgs`, `provider_orgs`. */
const isOrgs = (name: string): boolean => /(?:^|_)orgs$/.test(name);

/**
 * Returns what is joined with `orgs` by its `org_id` alone, each once, by its name in the statement.
 *
 * @param text normalised: values and parameters are `?`.
 */
export function joinedByOrgAlone(text: string): readonly string[] {
  const plain = text.replaceAll('"', "").toLowerCase();
  const names = [...plain.matchAll(equation)].flatMap(([, one = "", column, other = "", otherColumn]) => {
    if (column === "org_id" && otherColumn === "id" && isOrgs(other)) return [[one, other]];
    if (column === "id" && otherColumn === "org_id" && isOrgs(one)) return [[other, one]];
    return [];
  });
  const isLeft = ([name = "", orgs = ""]: readonly string[]): boolean =>
    !["customer_id", "org_customer_id"].some(
      (column) =>
        plain.includes(`${name}.${column} = ${orgs}.customer_id`) ||
        plain.includes(`${orgs}.customer_id = ${name}.${column}`),
    );
  return [...new Set(names.filter(isLeft).map(([name = ""]) => name))];
}
