interface ReceivedEvent {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

interface EventParser {
  readonly events: ReceivedEvent[];
  readonly comments: string[];
  feed(text: string): void;
}

/** Parses an event stream as EventSource does (WHATWG HTML, 9.2.6), from chunks of any size. */
export function createEventParser(): EventParser {
  const events: ReceivedEvent[] = [];
  const comments: string[] = [];
  let rest = "";
  let type = "";
  let data: string[] = [];
  let lastEventId = "";

  function takeLine(line: string): void {
    if (line === "") {
      if (data.length > 0) events.push({ type: type === "" ? "message" : type, data: data.join("\n"), lastEventId });
      type = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) {
      comments.push(line.slice(1));
      return;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) lastEventId = value;
  }

  return {
    events,
    comments,
    feed(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) takeLine(line);
    },
  };
}
