/** Writes a text in quotes, as one word of a shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a text as one word of a shell, in quotes where it needs them. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quote(text));
