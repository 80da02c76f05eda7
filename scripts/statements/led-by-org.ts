// Finds the tables of orgs that a statement touches without being led there by an org or its customer. Of a distributed table, that is a
// search on all nodes. A table is led if its customer or `org_id` (of `orgs`, also its `id` or `name`) is equal to a value, to a column of what
// the statement has computed before, or to that of a table that is led. All equations count, wherever they are: this finds what is forgotten, and proves nothing.

/** Part of a statement: a select with what is around it in the same parentheses. */
interface Scope {
  readonly parent: Scope | undefined;
  /** The tables by their names in the statement. */
  readonly tables: Map<string, Node>;
}

/** The org or customer of a table, or a value. Nodes of one set are equal. */
interface Node {
  readonly table: string | undefined;
  same: Node | undefined;
  isLed: boolean;
}

const token = /"[^"]*"|[a-z_][a-z0-9_]*|\?|<=|>=|<>|!=|::|\S/gi;
const isWord = (text: string | undefined): text is string => text !== undefined && /^[a-z_]/i.test(text);
/** Words that follow a table and are no name for it. */
const keywords = new Set(
  (
    "on where join inner left right full cross natural set using order group limit for union returning select from values as having " +
    "except intersect offset window not default with"
  ).split(" "),
);

/**
 * Returns the tables of orgs, each once, in order, to which neither an org nor a customer leads.
 *
 * @param text normalised: values and parameters are `?`.
 * @param ofOrgs the tables with a column `org_id`.
 */
export function tablesNotLed(text: string, ofOrgs: ReadonlySet<string>): readonly string[] {
  const tokens = (text.match(token) ?? []).map((each) => each.replaceAll('"', "").toLowerCase());
  const scopes = scopesOf(tokens);
  const nodes: Node[] = [];
  const at = (index: number): Scope => scopes[index] as Scope;

  for (const [index, word] of tokens.entries()) {
    const found = tableAt(tokens, index, word);
    if (found === undefined) continue;
    const { table, name, isNew } = found;
    if (table !== "orgs" && table !== "customers" && !ofOrgs.has(table)) continue;
    const node: Node = { table, same: undefined, isLed: isNew };
    nodes.push(node);
    at(index).tables.set(name, node);
  }

  const value: Node = { table: undefined, same: undefined, isLed: true };
  /** The org of what an operand refers to; undefined if it says nothing about an org. */
  const nodeOf = (scope: Scope, operand: readonly string[]): Node | undefined => {
    const [first = "", dot, column] = operand;
    if (dot === "." && column !== undefined) {
      const owner = lookUp(scope, first);
      if (owner === undefined) return value;
      return leadingColumnsOf(owner).includes(column) ? owner : undefined;
    }
    const owner = [...scopeWith(scope)].findLast((node) => leadingColumnsOf(node).includes(first));
    if (owner !== undefined) return owner;
    if (allLeading.has(first)) return undefined;
    return /^(?:\?|any|array|coalesce|cast)$/.test(first) ? value : undefined;
  };
  const join = (one: Node | undefined, other: Node | undefined): void => {
    if (one === undefined || other === undefined) return;
    const [first, second] = [rootOf(one), rootOf(other)];
    if (first === second) return;
    second.same = first;
    first.isLed ||= second.isLed;
  };

  for (const [index, word] of tokens.entries()) {
    const scope = at(index);
    if (word === "=" || (word === "in" && tokens[index - 1] !== "not")) {
      const left = operandsBefore(tokens, index);
      const right = operandsAfter(tokens, index);
      for (const [position, operand] of left.entries()) {
        const other = word === "in" || right.length !== left.length ? value : nodeOf(scope, right[position] ?? []);
        join(nodeOf(scope, operand), other);
      }
    } else if (
      word === "using" &&
      tokens[index + 1] === "(" &&
      ["org_id", "customer_id"].includes(tokens[index + 2] ?? "")
    ) {
      // The other side may be what the statement has computed.
      const [first, ...others] = scope.tables.values();
      for (const other of others.length === 0 ? [value] : others) join(first, other);
    }
  }
  const notLed = nodes.filter((node) => node.table !== "customers" && !rootOf(node).isLed);
  return [...new Set(notLed.map(({ table = "" }) => table))];
}

const allLeading = new Set(["customer_id", "org_customer_id", "org_id", "id", "name"]);

/** Returns the columns that say of which org or customer a row is. */
function leadingColumnsOf({ table }: Node): readonly string[] {
  if (table === "customers") return ["id", "name"];
  if (table === "orgs") return ["customer_id", "id", "name"];
  // A role is granted on its `customer_id`.
  return table === "role_bindings" ? ["org_customer_id", "org_id"] : ["customer_id", "org_id"];
}

function rootOf(node: Node): Node {
  let root = node;
  while (root.same !== undefined) root = root.same;
  return root;
}

/** Returns the scope of each token. Parentheses around something else than a statement are part of the scope around them. */
function scopesOf(tokens: readonly string[]): readonly Scope[] {
  let scope: Scope = { parent: undefined, tables: new Map() };
  const outer: Scope[] = [];
  return tokens.map((word, index) => {
    if (word === "(") {
      outer.push(scope);
      if (/^(?:select|with|insert|update|delete|values)$/.test(tokens[index + 1] ?? "")) {
        scope = { parent: scope, tables: new Map() };
      }
    } else if (word === ")") scope = outer.pop() ?? scope;
    // Each select of a union is one.
    else if (word === "select" && ["union", "all", "except"].includes(tokens[index - 1] ?? "")) {
      scope = { parent: scope.parent, tables: new Map() };
    }
    return scope;
  });
}

interface FoundTable {
  readonly table: string;
  readonly name: string;
  /** Whether its rows are inserted, with their org. */
  readonly isNew: boolean;
}

function tableAt(tokens: readonly string[], index: number, word: string): FoundTable | undefined {
  const [before, next = "", afterNext] = [tokens[index - 1] ?? "", tokens[index + 1], tokens[index + 2]];
  const isTable =
    (["from", "join", "into", "using"].includes(word) && before !== "distinct") ||
    (word === "update" && !["for", "key", "do"].includes(before)) ||
    (word === "," && isInFrom(tokens, index));
  if (!isTable || !isWord(next) || (afterNext === "(" && word !== "into")) return undefined;
  if (word === "from" && isExtract(tokens, index)) return undefined;
  // Tells the types of columns.
  if (afterNext === "where" && tokens[index + 3] === "false") return undefined;
  const alias = afterNext === "as" ? tokens[index + 3] : afterNext;
  const isAlias = word !== "into" && isWord(alias) && !keywords.has(alias);
  return { table: next, name: isAlias ? alias : next, isNew: word === "into" };
}

/** Whether a comma separates tables: what begins its list is `from` or `using`. */
function isInFrom(tokens: readonly string[], comma: number): boolean {
  let depth = 0;
  for (let index = comma - 1; index >= 0; index--) {
    const word = tokens[index] ?? "";
    if (word === ")") depth++;
    else if (word === "(" && depth-- === 0) return false;
    else if (depth === 0 && ["from", "using"].includes(word)) return true;
    else if (depth === 0 && /^(?:select|where|set|by|returning|values|with|on|into)$/.test(word)) return false;
  }
  return false;
}

/** Whether a `from` is that of `extract(epoch from time)`. */
function isExtract(tokens: readonly string[], index: number): boolean {
  return tokens[index - 2] === "(" && ["extract", "substring", "trim"].includes(tokens[index - 3] ?? "");
}

function lookUp(scope: Scope, name: string): Node | undefined {
  for (let each: Scope | undefined = scope; each !== undefined; each = each.parent) {
    const node = each.tables.get(name);
    if (node !== undefined) return node;
  }
  return undefined;
}

/** The tables of the nearest scope that has any. */
function scopeWith(scope: Scope): Iterable<Node> {
  let each: Scope | undefined = scope;
  while (each !== undefined && each.tables.size === 0) each = each.parent;
  return each?.tables.values() ?? [];
}

/** Returns the operands before an operator: one, or those of a row. */
function operandsBefore(tokens: readonly string[], operator: number): readonly (readonly string[])[] {
  let end = operator;
  // A cast.
  while (tokens[end - 2] === "::") end -= 2;
  if (tokens[end - 1] === ")") {
    let depth = 0;
    let start = end - 1;
    do {
      if (tokens[start] === ")") depth++;
      if (tokens[start] === "(") depth--;
      start--;
    } while (depth > 0 && start >= 0);
    return isWord(tokens[start]) &&
      !keywords.has(tokens[start] ?? "") &&
      tokens[start] !== "and" &&
      tokens[start] !== "or"
      ? []
      : splitRow(tokens.slice(start + 2, end - 1));
  }
  const start = tokens[end - 2] === "." ? end - 3 : end - 1;
  return [tokens.slice(start, end)];
}

function operandsAfter(tokens: readonly string[], operator: number): readonly (readonly string[])[] {
  const start = operator + 1;
  if (tokens[start] !== "(" || tokens[start + 1] === "select") return [tokens.slice(start, start + 3)];
  let depth = 1;
  let end = start + 1;
  for (; depth > 0 && end < tokens.length; end++) depth += tokens[end] === "(" ? 1 : tokens[end] === ")" ? -1 : 0;
  return splitRow(tokens.slice(start + 1, end - 1));
}

function splitRow(tokens: readonly string[]): readonly (readonly string[])[] {
  const items: string[][] = [[]];
  let depth = 0;
  for (const word of tokens) {
    if (word === "(") depth++;
    if (word === ")") depth--;
    if (word === "," && depth === 0) items.push([]);
    else items.at(-1)?.push(word);
  }
  return items;
}
