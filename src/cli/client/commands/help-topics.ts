// Help about what no command has for itself: `tenantry help TOPIC`.
import type { Contract } from "../contract/contract.ts";
import { type ExitCode, exitCodes } from "../command-error.ts";
import { fileHelp } from "./file-help.ts";
import { helpColumns } from "./help-lines.ts";

/** Writes the help of a topic, for a terminal of so many columns. */
type Topic = (contract: Contract, columns: number) => string;

const filterHelp: Topic = (_contract, columns) =>
  `What a list shows, and in which order.

  tenantry list members --org acme --filter 'state = INVITED' --order-by 'create_time desc'

${helpColumns(
  [
    { title: `  display_name = "Al*"`, help: "begins so; without the asterisk, the whole text, and case matters" },
    { title: "  display_name:al", help: "contains it, in any case" },
    { title: "  state = (INVITED OR ACTIVE)", help: "one of several values" },
    { title: "  labels.env = prod", help: "has the label env, with this value; labels:env, with any" },
    { title: "  create_time > 2026-01-31T00:00:00Z", help: "later than a time of RFC 3339" },
    { title: "  quantities.cpu_cores >= 4", help: "a resource that has so much" },
    { title: "  alice engineering", help: "both words, in the name, display name or description" },
  ],
  columns,
)}
Fields are those of the resource: tenantry get members/NAME -o yaml shows them. Join terms with AND and OR, which
binds tighter; NOT before one means the contrary. Quote the whole for your shell. All of it: docs/filters.md
`;

const exitCodeHelp: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: "done; check says yes",
  refused: "refused by the service, an operation or a test that failed, or an answer of no",
  differs: "plan, or rollback --dry-run, shows changes",
  notFound: "there is no such resource",
  denied: "not signed in, or not allowed",
  tryAgain: "the service cannot be reached, is too busy, or limits calls: try again",
  usage: "the command line is wrong, or what it gives the service",
};

const endsOfOthers: readonly (readonly [code: string, help: string])[] = [
  ["130, 143", "interrupted, by Ctrl-C or a signal"],
  ["141", "what reads the output has ended before the command"],
];

const exitHelp: Topic = (_contract, columns) => {
  const own = Object.entries(exitCodes).map(([name, code]: [string, ExitCode]) => {
    return [String(code), exitCodeHelp[name as keyof typeof exitCodes]] as const;
  });
  const lines = [...own, ...endsOfOthers].map(([code, help]) => ({ title: `  ${code}`, help }));
  return `With which codes commands end.\n\n${helpColumns(lines, columns)}`;
};

/** The topics, by the word that follows `tenantry help`. */
export const helpTopics: ReadonlyMap<string, Topic> = new Map([
  ["file", fileHelp],
  ["filters", filterHelp],
  ["exit-codes", exitHelp],
]);
