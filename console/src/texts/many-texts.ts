// What tables say about rows that are chosen, to act on all of them.
import { counted } from "./counted.ts";

/** How the rows of a table are called. */
export interface Nouns {
  readonly one: string;
  readonly many: string;
}

export const manyTexts = {
  chooseAll: "Choose all that are shown",
  choose: (name: string) => `Choose ${name}`,
  hint: "Shift chooses all between. The arrow keys lead to other rows, and Enter to what can be done.",
  bar: "With what is chosen",
  chosen: (count: number) => `${count} chosen`,
  clear: "Choose none",
  question: (act: string, count: number, { one, many }: Nouns) => `${act} ${counted(count, one, many)}?`,
  done: (done: string, count: number, { one, many }: Nouns) => `${done} ${counted(count, one, many)}.`,
  names: "Which ones",
  leftOut: (count: number, { one, many }: Nouns) =>
    `Left out, because it cannot be done to them: ${counted(count, one, many)}.`,
  together: "All of it is done, or nothing.",
  each: "One after the other. What fails is listed, and the others are done.",
  progress: "Progress",
  triedOf: (tried: number, total: number) => `${tried} of ${total}`,
  stop: "Stop",
  stopping: "It stops after the one that has begun.",
  doneOf: (done: number, total: number) => `${done} of ${total} done.`,
  failed: "Failed",
  notBegun: (count: number, { one, many }: Nouns) => `Not begun, because you stopped it: ${counted(count, one, many)}.`,
  close: "Close",
  leave: {
    title: "It still goes on",
    text: (left: number) =>
      `${left} of them are not done yet. The one that has begun is done; the others stay as they are.`,
    stay: "Stay",
    leave: "Leave",
  },
  leftAt: (done: string, count: number, total: number, { many }: Nouns) =>
    `${done} ${count} of ${total} ${many}, and then stopped, because you left.`,
  nouns: {
    member: { one: "member", many: "members" },
    grant: { one: "role", many: "roles" },
    key: { one: "API key", many: "API keys" },
    session: { one: "session", many: "sessions" },
    request: { one: "request", many: "requests" },
  },
};
