// What brings people in needs to know, and what the ways have in common.
import { createCall } from "../neighbours/place.ts";

export interface Place {
  readonly url: string;
  readonly operatorKey: string;
  readonly people: number;
}

/** The issuer of the service: its links and cookies are for HTTPS. */
export const issuer = "https://iam.example.com";

/** Creates an org, and returns its path without the leading slash, and what calls the service as the operator. */
export async function openOrg({ url, operatorKey }: Place, name: string) {
  const call = createCall(url, operatorKey);
  await call("orgs", { name });
  return { call, org: `orgs/${name}` };
}

/** Does something for each number below a count, in a number of lanes at once. */
export async function inLanes(
  lanes: number,
  count: number,
  work: (number: number, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const runLane = async (lane: number): Promise<void> => {
    while (next < count) await work(next++, lane);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
}
