/** Writes the name of a type in words: `RoleBinding` as `role binding`. */
export const typeInWords = (type: string): string =>
  type.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
