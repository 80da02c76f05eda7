// The orgs of the benchmark of neighbours: a quiet one, and a large one that does what it can.
import { type Org, fillOrgs, shapeOrg } from "../access-orgs.ts";

/** What the load needs to know. It is sent to another process. */
export interface Place {
  readonly url: string;
  /** The URL of a server on the same database that limits rates to `ratesOfLimited`. */
  readonly limitedUrl: string;
  readonly org: Org;
  /** The API keys of owners. */
  readonly quietKey: string;
  readonly hostileKey: string;
  /** The API key of a member with as many conditional role bindings as are allowed. */
  readonly conditionalKey: string;
  /** The API key of a member that sees who holds what, and may do little. */
  readonly observerKey: string;
}

export const quietOrg = "quiet";
export const quietMembers = 100;
const memberCount = 20_000;
const largest = shapeOrg(memberCount);
const hostilePath = `orgs/${largest.name}`;

/** So that the limits of the hostile caller are reached at once, and those of the quiet one never. */
export const ratesOfLimited: Readonly<Record<string, string>> = {
  TENANTRY_RATE_READS_PER_CALLER: "6000",
  TENANTRY_RATE_WRITES_PER_CALLER: "2000",
};

type Call = (path: string, body: object) => Promise<Readonly<Record<string, string>>>;

export function createCall(url: string, key: string): Call {
  return async (path, body) => {
    const response = await fetch(`${url}/iam/v1alpha/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as Record<string, string>;
  };
}

/** Creates the large org with its members, groups and projects. To be called before the service has read it. */
export async function createLarge(call: Call, databaseUrl: string): Promise<void> {
  await call("orgs", { name: largest.name });
  await fillOrgs(databaseUrl, [largest]);
}

/** Creates the quiet org with what it asks about. Returns the API key of its owner. */
export async function createQuiet(call: Call): Promise<string> {
  await call("orgs", { name: quietOrg });
  const quietKey = await createCaller(call, `orgs/${quietOrg}`, "caller", "/roles/owner");
  const members = Array.from({ length: quietMembers }, (_, index) => ({ member: { name: `member-${index}` } }));
  await call(`orgs/${quietOrg}/members:batchCreate`, { requests: members });
  await call(`orgs/${quietOrg}/projects`, { name: "web" });
  return quietKey;
}

/** Creates the quiet org, callers and their role bindings. */
export async function createCallers(call: Call): Promise<Omit<Place, "url" | "limitedUrl">> {
  const quietKey = await createQuiet(call);
  const hostileKey = await createCaller(call, hostilePath, "caller", "/roles/owner");
  await createEverybody(call);
  // A member who may bind roles is a candidate when an explanation looks for those who can grant what is missing.
  const permissions = ["iam.roleBindings.create", "iam.access.explain"];
  await call(`${hostilePath}/roles`, { name: "observer", permissions });
  await bind(call, "everybody", `${hostilePath}/groups/everybody`, `${hostilePath}/roles/observer`);
  const observerKey = await createCaller(call, hostilePath, "observer", "/roles/viewer");
  const conditionalKey = await createCaller(call, hostilePath, "conditional", "/roles/viewer");
  await bindWithConditions(call, `${hostilePath}/members/conditional`);
  return { org: largest, quietKey, hostileKey, conditionalKey, observerKey };
}

async function createCaller(call: Call, org: string, name: string, role: string): Promise<string> {
  const { path = "" } = await call(`${org}/members`, { name, type: "APPLICATION" });
  await call(`${org}/roleBindings`, { name, role_path: role, subject_path: path });
  const { secret = "" } = await call(`${path.slice(1)}/apiKeys`, { name: "bench" });
  return secret;
}

function bind(call: Call, name: string, subject: string, role: string): Promise<unknown> {
  return call(`${hostilePath}/roleBindings`, { name, role_path: `/${role}`, subject_path: `/${subject}` });
}

/** Creates a group of which all members of the large org are members, through its groups. */
async function createEverybody(call: Call): Promise<void> {
  await call(`${hostilePath}/groups`, { name: "everybody" });
  const requests = Array.from({ length: largest.groups }, (_, index) => ({
    subgroup: { group_path: `/${hostilePath}/groups/group-${index}` },
  }));
  for (let first = 0; first < requests.length; first += 1_000) {
    await call(`${hostilePath}/groups/everybody/subgroups:batchCreate`, {
      requests: requests.slice(first, first + 1_000),
    });
  }
}

/** The largest that a decision may evaluate: 100 conditions of 49 parts, of 5,000 parts in all. */
async function bindWithConditions(call: Call, subject: string): Promise<void> {
  const conditionOf = (number: number): string =>
    Array.from({ length: 10 }, (_, term) => `subject.path == "${number}-${term}"`).join(" || ");
  const requests = Array.from({ length: 100 }, (_, number) => ({
    role_binding: {
      name: `conditional-${number}`,
      role_path: "/roles/admin",
      subject_path: `/${subject}`,
      condition: conditionOf(number),
    },
  }));
  await call(`${hostilePath}/roleBindings:batchCreate`, { requests });
}
