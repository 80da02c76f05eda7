/**
 * Runs `run` for each item, at most `limit` at a time. After the first failure, or when the signal fires, no further
 * item is taken; what is in flight ends before this does.
 *
 * @throws the first failure.
 */
export async function runLimited<Item>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length && failures.length === 0 && !signal.aborted) {
      const item = items[next++] as Item;
      try {
        await run(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length > 0) throw failures[0];
}
