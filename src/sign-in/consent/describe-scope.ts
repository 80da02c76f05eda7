/** Returns what a scope allows, in words: `Get role bindings (iam)` for `iam.roleBindings.get`. */
export function describeScope(scope: string): string {
  const [area = "", collection = "*", verb = "*"] = scope.split(".");
  if (collection === "*") return `Everything that you may do in the area ${area}`;
  const [what, how] = [wordsOf(collection), wordsOf(verb)];
  return verb === "*" ? `Everything that you may do with ${what} (${area})` : `${capitalized(how)} ${what} (${area})`;
}

/** `roleBindings` → `role bindings` */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
