// How a statement is sent, and its rows are read. A connection that has prepared a statement knows how its rows look, since PostgreSQL
// refuses to run it with other columns. So PostgreSQL describes it once, and not each time, as `pg` has it (docs/decisions/0050).
import pg from "pg";

/** A statement. A connection that is given a name prepares it; a name must always have the same text. */
export interface Statement {
  readonly name?: string | undefined;
  /** What it looks up, if it is a lookup: `find_api_keys`. */
  readonly lookup?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a statement returned. */
export interface StatementResult {
  /** The first word of what PostgreSQL calls it: `COMMIT`. */
  readonly command: string;
  /** How many rows were read or written; null if it does neither. */
  readonly rowCount: number | null;
  readonly rows: object[];
}

type Callback = (error: Error | null, result: StatementResult) => void;

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** How the rows of a statement look. */
interface RowShape {
  readonly columns: readonly Column[];
  /** A row, to be copied and filled. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** What is known of the statements of a connection. */
interface Descriptions {
  /** By the name of the statement. Each has been prepared. */
  readonly shapes: Map<string, RowShape>;
  /** The connection, but it describes nothing. */
  readonly describingNothing: pg.Connection;
}

const noRows: RowShape = { columns: [], empty: {} };

/** Returns what is known of the statements of a connection. */
export type DescriptionsOf = (client: pg.PoolClient) => Descriptions;

export function createDescriptions(): DescriptionsOf {
  const known = new WeakMap<pg.PoolClient, Descriptions>();
  return (client) => {
    let descriptions = known.get(client);
    if (descriptions === undefined) {
      const nothing = { value: (): void => {} };
      const describingNothing = Object.create(connectionOf(client), { describe: nothing }) as pg.Connection;
      known.set(client, (descriptions = { shapes: new Map(), describingNothing }));
    }
    return descriptions;
  };
}

/** The types of pg hide the connection of a client of a pool. */
export const connectionOf = (client: pg.PoolClient): pg.Connection => (client as unknown as pg.Client).connection;

/** What pg has in a message, as far as it is read here. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** How pg sends what has values or a name, which its types do not have. */
interface Sending extends pg.Submittable {
  name: string | undefined;
  prepare(connection: pg.Connection): void;
}

// Pipelined connections refuse what is no Query.
const Query = pg.Query as unknown as new (text: string, values: readonly unknown[]) => Sending;

/** A statement on its way. The methods are those that a client of pg calls. */
export class StatementQuery extends Query {
  readonly callback: Callback;
  readonly #client: pg.PoolClient;
  /** Undefined for a statement that is described each time. */
  readonly #descriptions: Descriptions | undefined;
  #shape = noRows;
  #command = "";
  #rowCount: number | null = null;
  #rows: object[] = [];
  /** Of a row that could not be read. */
  #failure: Error | undefined;

  /**
   * @param descriptionsOf undefined where a name does not mean one prepared statement for as long as the connection lives, because a
   *   pooler prepares it on several.
   */
  constructor(
    client: pg.PoolClient,
    statement: Statement,
    descriptionsOf: DescriptionsOf | undefined,
    callback: Callback,
  ) {
    super(statement.text, statement.values);
    this.name = statement.name;
    this.callback = callback;
    this.#client = client;
    if (statement.name !== undefined) this.#descriptions = descriptionsOf?.(client);
  }

  override prepare(connection: pg.Connection): void {
    const known = this.#descriptions?.shapes.get(this.name ?? "");
    if (this.#descriptions === undefined || known === undefined) return super.prepare(connection);
    this.#shape = known;
    super.prepare(this.#descriptions.describingNothing);
  }

  handleRowDescription({ fields }: RowDescription): void {
    const columns = fields.map(({ name, dataTypeID }): Column => ({
      name,
      parse: this.#client.getTypeParser(dataTypeID),
    }));
    this.#shape = { columns, empty: Object.fromEntries(fields.map(({ name }) => [name, null])) };
    this.#rows = [];
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { columns, empty } = this.#shape;
    try {
      if (fields.length !== columns.length)
        throw new Error(`a row has ${fields.length} columns, and not ${columns.length}`);
      const row = { ...empty };
      for (let index = 0; index < columns.length; index++) {
        const [column, text] = [columns[index], fields[index]];
        if (column !== undefined && typeof text === "string") row[column.name] = column.parse(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const words = text.split(" ");
    const count = Number(words.at(-1));
    this.#command = words[0] ?? "";
    this.#rowCount = Number.isNaN(count) ? null : count;
    if (this.name !== undefined) this.#descriptions?.shapes.set(this.name, this.#shape);
  }

  handleReadyForQuery(): void {
    const result = { command: this.#command, rowCount: this.#rowCount, rows: this.#rows };
    this.callback(this.#failure ?? null, result);
  }

  handleError(error: Error): void {
    this.callback(this.#failure ?? error, { command: "", rowCount: null, rows: [] });
  }
}
