// Prints resources in the format that is asked for.
import { CommandError } from "../command-error.ts";
import { didYouMean } from "../arguments/nearest.ts";
import type { Field } from "../contract/contract.ts";
import type { Host } from "../host.ts";
import { type Item, columnsOf, formatCell } from "./columns.ts";
import { describeItem } from "./describe.ts";
import { escapeJson, escapeText } from "./escape-text.ts";
import { createTable } from "./table.ts";
import { writeYaml } from "./write-yaml.ts";

const formats = ["table", "json", "yaml", "name", "csv"] as const;
export type Format = (typeof formats)[number];

/** @throws CommandError */
export function readFormat(text: string | undefined, isTerminal: boolean): Format {
  if (text === undefined) return isTerminal ? "table" : "json";
  const format = formats.find((each) => each === text);
  if (format !== undefined) return format;
  throw new CommandError(
    `--output must be ${formats.join(", ")}, got ${JSON.stringify(text)}${didYouMean(text, formats)}`,
  );
}

/** How many items decide how wide the columns of a table are. */
const measuredItems = 100;

export interface PrintOptions {
  readonly format: Format;
  /** Those of the message of the items; none if it is not known. */
  readonly fields: readonly Field[];
  /** The value of `--columns`. */
  readonly columns: string | undefined;
  /** The path of the collection. */
  readonly parent: string;
}

export interface ItemPrinter {
  /** Prints the next items of a list. */
  readonly page: (items: readonly unknown[]) => void;
  readonly end: () => void;
}

/** Checks the value of `--columns` before a call whose answer `printItem` prints. @throws CommandError as it does. */
export function checkColumns(format: Format, fields: readonly Field[], columns: string | undefined): void {
  if (columns !== undefined && (format === "table" || format === "csv")) columnsOf(known(fields), columns, "", 0);
}

export function writeJson(value: unknown): string {
  return `${escapeJson(JSON.stringify(value, null, 2))}\n`;
}

/** Prints one resource, or whatever else a call returns. */
export function printItem(host: Host, value: unknown, { format, fields, columns, parent }: PrintOptions): void {
  if (value === undefined) return;
  const item = typeof value === "object" && value !== null ? (value as Item) : { value };
  switch (format) {
    case "json":
      return host.print(writeJson(value));
    case "yaml":
      return host.print(writeYaml(value));
    case "table":
      if (columns === undefined) return host.print(describeItem(item, fields, host.now()));
      return host.print(createTable(columnsOf(known(fields), columns, parent, host.now()), widthOf(host))([item]));
    case "name":
      return host.print(`${nameOf(item)}\n`);
    case "csv": {
      const printer = printItems(host, { format, fields, columns, parent });
      printer.page([item]);
      return printer.end();
    }
  }
}

/** Prints a list page by page. */
export function printItems(host: Host, { format, fields, columns, parent }: PrintOptions): ItemPrinter {
  switch (format) {
    case "json":
      return listPrinter(host, "[", "]", (item) => escapeJson(JSON.stringify(item, null, 2)).replaceAll("\n", "\n  "));
    case "yaml":
      return {
        page: (items) => items.length > 0 && host.print(writeYaml(items)),
        end: () => undefined,
      };
    case "name":
      return { page: (items) => host.print(items.map((item) => `${nameOf(item)}\n`).join("")), end: () => undefined };
    case "csv": {
      const shown = columnsOf(known(fields), columns ?? fieldNames(fields), parent, host.now());
      const names = (columns ?? fieldNames(fields)).split(",");
      let isFirst = true;
      return {
        page(items) {
          if (isFirst) host.print(`${names.map(quote).join(",")}\r\n`);
          isFirst = false;
          host.print(
            items.map((item) => `${shown.map(({ read }) => quote(read(asItem(item)))).join(",")}\r\n`).join(""),
          );
        },
        end: () => isFirst && host.print(`${names.map(quote).join(",")}\r\n`),
      };
    }
    case "table":
      return tablePrinter(host, createTable(columnsOf(known(fields), columns, parent, host.now()), widthOf(host)));
  }
}

/** Items that are texts have one field. */
const textField: readonly Field[] = [{ name: "path", type: "string", help: "" }];

function known(fields: readonly Field[]): readonly Field[] {
  return fields.length === 0 ? textField : fields;
}

function fieldNames(fields: readonly Field[]): string {
  return known(fields)
    .map(({ name }) => name)
    .join(",");
}

function asItem(item: unknown): Item {
  return typeof item === "object" && item !== null ? (item as Item) : { path: item };
}

function widthOf(host: Host): number | undefined {
  return host.isTerminal ? host.columns : undefined;
}

function nameOf(item: unknown): string {
  const { path, id, name } = asItem(item);
  return escapeText(formatCell(path ?? name ?? id ?? ""));
}

/** Quotes a cell as RFC 4180 says. */
function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Prints lines of a table. Those that decide its widths come together, however small the pages are. */
function tablePrinter(host: Host, write: (items: readonly Item[]) => string): ItemPrinter {
  let waiting: Item[] = [];
  let isBegun = false;
  const print = (): void => {
    host.print(write(waiting));
    waiting = [];
    isBegun = true;
  };
  return {
    page(items) {
      waiting.push(...items.map(asItem));
      if (waiting.length > 0 && (isBegun || waiting.length >= measuredItems)) print();
    },
    end() {
      if (waiting.length > 0) print();
      else if (!isBegun) host.warn("Nothing found.\n");
    },
  };
}

/** Prints what is between brackets, with commas. */
function listPrinter(host: Host, open: string, close: string, write: (item: unknown) => string): ItemPrinter {
  let count = 0;
  return {
    page(items) {
      const text = items.map((item, index) => `${count + index === 0 ? open : ","}\n  ${write(item)}`).join("");
      count += items.length;
      host.print(text);
    },
    end: () => host.print(count === 0 ? `${open}${close}\n` : `\n${close}\n`),
  };
}
