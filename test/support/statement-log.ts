// Lists the statements that clients send to a PostgreSQL server, as they are in the messages of its protocol.
import { type Observer, startSilentProxy } from "./silent-proxy.ts";

export interface StatementLog {
  /** The URL of the database; what goes through it is listed. */
  readonly url: string;
  /** The texts of what was run, in order. */
  readonly statements: readonly string[];
  /** Whether each statement has its answer. */
  isAnswered(): boolean;
  close(): void;
}

export async function startStatementLog(databaseUrl: string): Promise<StatementLog> {
  const statements: string[] = [];
  let unanswered = 0;
  const observe = (): Observer => {
    /** By the name of the prepared statement, and the one that is bound. */
    const prepared = new Map<string, string>();
    let bound = "";
    const textsOf = (body: Buffer): string[] => body.toString("utf8").split("\0");
    return {
      fromClient: readMessages((type, body) => {
        const [first = "", second = ""] = textsOf(body);
        if (type === "P") prepared.set(first, second);
        if (type === "B") bound = prepared.get(second) ?? "";
        if (type === "Q") statements.push(first);
        if (type === "E") statements.push(bound);
        // A login, a simple statement, and the end of a prepared one have an answer each.
        if (type === "" || type === "Q" || type === "S") unanswered++;
      }, true),
      fromServer: readMessages((type) => {
        if (type === "Z") unanswered--;
      }, false),
    };
  };
  const proxy = await startSilentProxy(databaseUrl, 0, observe);
  return { url: proxy.url, statements, isAnswered: () => unanswered === 0, close: proxy.close };
}

/** Splits bytes into messages: a letter, the length with itself, the body. The first of a client has no letter. */
function readMessages(onMessage: (type: string, body: Buffer) => void, ofClient: boolean): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let hasLetter = !ofClient;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const from = hasLetter ? 1 : 0;
      if (rest.length < from + 4) return;
      const end = from + rest.readInt32BE(from);
      if (rest.length < end) return;
      onMessage(hasLetter ? rest.toString("latin1", 0, 1) : "", rest.subarray(from + 4, end));
      rest = rest.subarray(end);
      hasLetter = true;
    }
  };
}
