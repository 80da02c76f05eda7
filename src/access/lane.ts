/** Starts tasks in the order in which they come, as soon as fewer than so many are under way. */
export type Lane = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function createLane(limit: number): Lane {
  const waiting: (() => void)[] = [];
  let underWay = 0;

  return async (task) => {
    // A task that ends hands its place over, so that none that comes meanwhile gets it first.
    if (underWay === limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) underWay--;
      else next();
    }
  };
}
