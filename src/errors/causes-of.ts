const maxCauses = 10;

/** Returns an error and its causes, at most ten, the outermost first. Empty for what is no error. */
export function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let each = error; each instanceof Error && found.length < maxCauses; each = each.cause) found.push(each);
  return found;
}
