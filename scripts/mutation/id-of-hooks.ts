/** Returns the id, as Stryker forms those of tests, of what the hooks of a test file run. */
export function idOfHooks(file: string): string {
  return `${file}#(hooks)`;
}
