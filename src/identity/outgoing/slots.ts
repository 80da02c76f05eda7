/** Runs at most so many functions at once for each key, and for all keys together; others fail at once. */
export function createSlots(options: { readonly perKey: number; readonly total: number; readonly full: () => Error }) {
  const used = new Map<string, number>();
  let total = 0;
  return async <Result>(key: string, run: () => Promise<Result>): Promise<Result> => {
    const ofKey = used.get(key) ?? 0;
    if (ofKey >= options.perKey || total >= options.total) throw options.full();
    used.set(key, ofKey + 1);
    total++;
    try {
      return await run();
    } finally {
      total--;
      const left = (used.get(key) ?? 1) - 1;
      if (left === 0) used.delete(key);
      else used.set(key, left);
    }
  };
}
