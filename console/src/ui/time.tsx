import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { texts } from "../texts/texts.ts";

const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** A time in the zone of the browser; the title has it in UTC. */
export function Time({ at, none = texts.none }: { readonly at: Timestamp | undefined; readonly none?: string }) {
  if (at === undefined) return <span className="quiet-text">{none}</span>;
  const iso = timestampDate(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {format.format(timestampDate(at))}
    </time>
  );
}
