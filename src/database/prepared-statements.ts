// Prepares the statements of transactions: most of a short statement's time is its planning, and the same few hundred texts
// return all the time.
/** Each connection keeps the plan of each name, some 50 kB, so there are not many. */
const maxNames = 400;
/** Longer statements come from batches; their texts differ with the number of items. */
const maxLength = 4096;
const maxSeenOnce = 1000;

/** Names statements that return. A connection that is given a name keeps the statement, and need not parse and plan it again. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seenOnce = new Set<string>();
  #count = 0;

  /** Returns the name of a statement from its second time on; undefined for one that has none. A name has one text for good. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (text.length > maxLength || this.#names.size >= maxNames) return undefined;
    if (this.#seenOnce.delete(text)) return this.#add(text);
    if (this.#seenOnce.size >= maxSeenOnce) this.#seenOnce.clear();
    this.#seenOnce.add(text);
    return undefined;
  }

  /** Ends all names, because the database was migrated and connections keep plans that are out of date. */
  end(): void {
    this.#names.clear();
  }

  #add(text: string): string {
    this.#count += 1;
    const name = `statement_${this.#count}`;
    this.#names.set(text, name);
    return name;
  }
}
