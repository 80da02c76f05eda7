// Which primary is the latest. PostgreSQL begins a new timeline when it promotes a standby. A former primary that was cut off, suspended
// or abandoned by what runs it may answer for a while after that, and knows nothing of what was written since: access that was revoked is
// still there. So each connection asks for the timeline once, and one that is earlier than another is refused. Not behind
// a pooler, which may move a connection to another server.
import pg from "pg";

export interface Timelines {
  /** Notes the timeline of a server that is a primary. @throws FormerPrimaryError if a later one is known. */
  check(client: pg.Client, where: string): Promise<void>;
  /** The same for a server to which no connection leads now. Returns whether it is later than all that are known. */
  isLater(client: pg.Client): Promise<boolean>;
}

/** A server answers that was the primary before another one was promoted. */
export class FormerPrimaryError extends Error {
  override readonly name = "FormerPrimaryError";
}

interface Position {
  /** Timelines of different clusters say nothing about each other. */
  readonly cluster: string;
  readonly timeline: number;
}

/** @param onLater called when a server is on a later timeline than those before, which are out of date. */
export function createTimelines(onLater: () => void): Timelines {
  let latest: Position | undefined;

  const note = (position: Position): void => {
    const isFirst = latest === undefined;
    latest = position;
    if (!isFirst) onLater();
  };

  return {
    async check(client, where) {
      const position = await readPosition(client);
      if (position === undefined) return;
      if (latest?.cluster !== position.cluster || position.timeline > latest.timeline) note(position);
      else if (position.timeline < latest.timeline) {
        throw new FormerPrimaryError(
          `the database server ${where} is a former primary: it is on timeline ${position.timeline}, and another server was promoted to ${latest.timeline}. If the database was taken back to a backup on purpose, start this process again`,
        );
      }
    },
    async isLater(client) {
      const position = await readPosition(client);
      const isLater =
        position !== undefined && latest?.cluster === position.cluster && position.timeline > latest.timeline;
      if (isLater) note(position);
      return isLater;
    },
  };
}

/**
 * Connections that fail, lack of resources, and shutdowns. Any other refusal is that of a server that has no such functions, or gives them to
 * nobody, as services that manage PostgreSQL may: then there is nothing to compare.
 */
const passingClasses = new Set(["08", "53", "57"]);

/** The name of a file of the write-ahead log begins with its timeline, in hexadecimal digits. */
const positionOfPrimary = `
  select system_identifier::text as cluster,
    case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end as file
  from pg_control_system()`;

/** Returns undefined for a standby, too. */
async function readPosition(client: pg.Client): Promise<Position | undefined> {
  try {
    const { rows } = await client.query<{ cluster: string; file: string | null }>(positionOfPrimary);
    const [{ cluster, file } = { cluster: "", file: null }] = rows;
    return file === null ? undefined : { cluster, timeline: Number.parseInt(file.slice(0, 8), 16) };
  } catch (error) {
    const isPassing = !(error instanceof pg.DatabaseError) || passingClasses.has(error.code?.slice(0, 2) ?? "");
    if (isPassing) throw error;
    return undefined;
  }
}
