// Two columns of help: what something is called, and what it is.
import { pad, shorten } from "../output/text-width.ts";

export interface HelpLine {
  /** With its indentation. */
  readonly title: string;
  readonly help: string;
}

/** Writes lines as two columns. A help takes two lines at most, and a title that is too wide has it below. */
export function helpColumns(lines: readonly HelpLine[], columns: number): string {
  const width = Math.min(30, Math.max(...lines.map(({ title }) => title.length)) + 2);
  return lines
    .flatMap(({ title, help }) => {
      const [first = "", ...others] = inTwoLines(help, columns - width);
      const below = others.map((line) => " ".repeat(width) + line);
      return title.length < width
        ? [`${pad(title, width)}${first}`, ...below]
        : [title, `${" ".repeat(width)}${first}`, ...below];
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function inTwoLines(text: string, columns: number): readonly string[] {
  if (text.length <= columns) return [text];
  const end = text.lastIndexOf(" ", columns);
  return end <= 0 ? [shorten(text, columns)] : [text.slice(0, end), shorten(text.slice(end + 1), columns)];
}
