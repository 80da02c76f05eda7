/** The longest name that the service takes. */
const longest = 64;

/** Returns the name of what follows something: `ci-2` after `ci`, and `ci-4` after `ci-2` if another one is called `ci-3`. */
export function nextName(name: string, taken: ReadonlySet<string>): string {
  const [, base = name, last = "1"] = /^(.*[^-])-([1-9]\d{0,5})$/.exec(name) ?? [];
  for (let number = Number(last) + 1; ; number++) {
    const end = `-${number}`;
    const next = base.slice(0, longest - end.length).replace(/-+$/, "") + end;
    if (!taken.has(next)) return next;
  }
}
