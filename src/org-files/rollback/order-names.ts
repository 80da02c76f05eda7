// Orders what gives siblings their names: undeletions, which need the name that something was deleted with, and renames. A name can be held by
// what gives it up later, is to be deleted, or waits for another name itself; in a circle, one has a made-up name for a while.

/** Something that has or gets a name among its siblings. */
export interface NamedItem {
  readonly id: string;
  /** The name that it holds; undefined for what is deleted, or is to be created. */
  readonly held: string | undefined;
  /** The name that it was deleted with, if it is to be undeleted. */
  readonly deletedWith?: string | undefined;
  /** The name that it gets or keeps, unlike that of any other; undefined for what is to be deleted. */
  readonly wanted: string | undefined;
  /** Whether it is created with the name, and so needs no rename. */
  readonly isCreated?: boolean;
}

export interface NameStep<Item> {
  readonly item: Item;
  /** Undefined for an undeletion. */
  readonly rename: string | undefined;
}

/** Returns the steps, after which the names of what is to be created are free. */
export function orderNames<Item extends NamedItem>(items: readonly Item[]): readonly NameStep<Item>[] {
  const steps: NameStep<Item>[] = [];
  const holders = new Map(items.flatMap((item) => (item.held === undefined ? [] : [[item.held, item] as const])));
  const names = new Map(items.map((item) => [item, item.held]));

  const take = (item: Item, name: string): void => {
    const current = names.get(item);
    if (current !== undefined) holders.delete(current);
    holders.set(name, item);
    names.set(item, name);
  };
  const rename = (item: Item, name: string): void => {
    take(item, name);
    steps.push({ item, rename: name });
  };

  /** @param waiting what waits for the name of another, along the way. */
  const free = (name: string, waiting: ReadonlySet<Item>): void => {
    const holder = holders.get(name);
    if (holder === undefined) return;
    const { wanted } = holder;
    if (wanted === undefined || wanted === name || waiting.has(holder)) {
      rename(holder, madeUpName(holder, holders));
      return;
    }
    free(wanted, new Set([...waiting, holder]));
    if (names.get(holder) === name) rename(holder, wanted);
  };

  for (const item of items) {
    const { deletedWith } = item;
    if (deletedWith === undefined) continue;
    const holder = holders.get(deletedWith);
    if (holder !== undefined) {
      const { wanted } = holder;
      const isFree = wanted !== undefined && wanted !== deletedWith && !holders.has(wanted);
      rename(holder, isFree ? wanted : madeUpName(holder, holders));
    }
    take(item, deletedWith);
    steps.push({ item, rename: undefined });
  }
  for (const item of items) {
    const { wanted } = item;
    if (wanted === undefined || names.get(item) === wanted) continue;
    free(wanted, new Set([item]));
    if (item.isCreated === true) take(item, wanted);
    else if (names.get(item) !== wanted) rename(item, wanted);
  }
  return steps;
}

function madeUpName({ id }: NamedItem, holders: ReadonlyMap<string, unknown>): string {
  const name = `moved-${id.replaceAll("-", "")}`;
  return holders.has(name) ? `${name}-again` : name;
}
