/** Writes a text in quotes, as one word of a shell. Not all shells take a backslash in quotes as it is. */
export const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, (each) => `'\\${each}'`)}'`;

/** Writes a text as one word of a shell, in quotes where it needs them. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quote(text));

/** Whether a terminal may take a part of a text for something else than a character, or shows it in another order. */
export const isControlling = (text: string): boolean => /[^\P{C}\n\t]/u.test(text);

/** Writes a value as JSON of characters that a terminal takes for nothing else. */
export const shellJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/\p{C}/gu, (each) =>
    each
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
