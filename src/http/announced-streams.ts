// How many streams the server allows on each HTTP/2 session (SETTINGS_MAX_CONCURRENT_STREAMS). A client may open all of them at once, and
// Node creates objects for each before the server can refuse it. So a session without a known caller is allowed few, and fewer if its
// address has other such sessions. If a client opens more, nghttp2 resets them before Node creates anything.
import type { ServerHttp2Session } from "node:http2";

interface Peer {
  readonly remoteAddress?: string | undefined;
}

export interface AnnouncedStreams {
  /** Returns how many streams to announce to the session that a connection becomes. */
  readonly streamsOf: (socket: Peer) => number;
  /** Counts a session for its network until it has a known caller, or closes. */
  readonly onSession: (session: ServerHttp2Session) => void;
  /** Returns the network of a session; undefined if that may be one of many clients. */
  readonly networkOfSession: (session: ServerHttp2Session) => string | undefined;
  /** Announces the most streams to a session, once. */
  readonly raise: (session: object | undefined) => void;
}

/**
 * How many streams a session may have, by the number of other sessions without a known caller in its network. Clients that open streams
 * before they have received the settings assume 100 (RFC 9113, 6.5.2, recommends no less).
 */
const steps: readonly { readonly sessions: number; readonly streams: number }[] = [
  { sessions: 4, streams: 100 },
  { sessions: 40, streams: 10 },
  { sessions: Infinity, streams: 1 },
];

/**
 * @param max of a session with a known caller, and of one that may have many clients.
 * @param networkOf returns the network of a peer; undefined if that may be many clients.
 */
export function createAnnouncedStreams(max: number, networkOf: (peer: Peer) => string | undefined): AnnouncedStreams {
  /** Of sessions without a known caller. */
  const counts = new Map<string, number>();
  // The sockets of sessions are behind slow proxy objects, which throw when the session has ended.
  const networks = new WeakMap<ServerHttp2Session, string>();
  const unknown = new WeakMap<object, { readonly session: ServerHttp2Session; readonly leave: () => void }>();

  return {
    streamsOf(socket) {
      const network = networkOf(socket);
      if (network === undefined) return max;
      const others = counts.get(network) ?? 0;
      const { streams = 1 } = steps.find(({ sessions }) => others < sessions) ?? {};
      return Math.min(streams, max);
    },

    onSession(session) {
      const network = networkOf(session.socket);
      if (network === undefined) return;
      networks.set(session, network);
      counts.set(network, (counts.get(network) ?? 0) + 1);
      const leave = (): void => {
        if (!unknown.delete(session)) return;
        const others = (counts.get(network) ?? 0) - 1;
        if (others === 0) counts.delete(network);
        else counts.set(network, others);
      };
      unknown.set(session, { session, leave });
      session.once("close", leave);
    },

    networkOfSession: (session) => networks.get(session),

    raise(key) {
      const found = key === undefined ? undefined : unknown.get(key);
      if (found === undefined) return;
      found.leave();
      const { session } = found;
      if (!session.closed && !session.destroyed) session.settings({ maxConcurrentStreams: max });
    },
  };
}
