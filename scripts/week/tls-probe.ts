// A client that checks the certificate of the proxy with each connection, and one that keeps its connection.
import { connect } from "node:http2";
import { once } from "node:events";
import { get } from "node:https";
import type { TLSSocket } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import type { Findings } from "../chaos/findings.ts";

export interface TlsProbe {
  /** How many connections were answered, by the issuer of the certificate that they got. */
  readonly issuers: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const pauseMs = 50;
const findingOf = "a call failed in a way that clients may not retry";

/** @param authorities in PEM, any of which may have issued the certificate. */
export function startTlsProbe(url: string, authorities: string, findings: Findings): TlsProbe {
  const issuers = new Map<string, number>();
  const stopping = new AbortController();
  const session = connect(url, { ca: authorities });
  session.on("error", (error) => findings.add(findingOf, `the connection that was kept: ${error.message}`));
  const askOnKept = async (): Promise<void> => {
    const stream = session.request({ ":path": "/healthz" });
    stream.resume();
    const [{ ":status": status }] = (await once(stream, "response")) as [Record<string, unknown>];
    if (status !== 200) findings.add(findingOf, `${String(status)} on the connection that was kept`);
  };
  const asking = (async (): Promise<void> => {
    for (; !stopping.signal.aborted; await sleep(pauseMs)) {
      try {
        const issuer = await askOnce(`${url}/healthz`, authorities);
        issuers.set(issuer, (issuers.get(issuer) ?? 0) + 1);
        await askOnKept();
      } catch (error) {
        findings.add(findingOf, `over TLS: ${(error as Error).message}`);
      }
    }
  })();
  return {
    issuers,
    async stop() {
      stopping.abort();
      await asking;
      session.destroy();
    },
  };
}

/** Calls on a connection of its own. Returns the name of what has issued the certificate. */
function askOnce(url: string, authorities: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca: authorities, agent: false }, (response) => {
      const { CN } = (response.socket as TLSSocket).getPeerCertificate().issuer;
      response.resume().once("end", () => resolve(CN));
    }).once("error", reject);
  });
}
