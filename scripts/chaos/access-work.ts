// What a caller does to access: it grants and revokes roles, adds and removes a membership, issues and deletes an API key, and asks
// all servers right afterwards. It knows what they must answer, since nobody else changes access to its projects.
import type { Caller } from "./caller.ts";
import type { Findings } from "./findings.ts";
import type { Grant, History } from "./history.ts";
import type { AccessClient } from "../../test/support/access-place.ts";
import type { Api } from "../../test/support/api.ts";
import type { Random } from "./random.ts";

/** A client of one server. */
export interface Peer {
  readonly server: string;
  readonly access: AccessClient;
  /** Returns whether a secret is accepted. */
  readonly accepts: (secret: string, options: { signal?: AbortSignal }) => Promise<boolean>;
}

export interface AccessWorkOptions {
  readonly prefix: string;
  /** `/orgs/acme` */
  readonly org: string;
  /** Paths. Nobody else grants anything to these or on these. */
  readonly members: readonly string[];
  readonly group: string;
  readonly projects: readonly string[];
  readonly api: Api;
  /** All servers, and the proxy in front of them. */
  readonly peers: readonly Peer[];
  readonly caller: Caller;
  readonly history: History;
  readonly random: Random;
  readonly findings: Findings;
}

/** Of the predefined roles below `owner`, only `admin` and `editor` hold it. */
const permission = "compute.instances.start";

interface Binding extends Grant {
  readonly scope: string;
  readonly subject: string;
}

type Step = () => Promise<void>;

export function createAccessWork(options: AccessWorkOptions): {
  readonly steps: readonly (readonly [weight: number, step: Step])[];
} {
  const { prefix, org, members, group, projects, api, peers, caller, history, random, findings } = options;
  let bindings: Binding[] = [];
  const memberships = new Map<string, Grant>();
  let serial = 0;
  /** Whether a change was given up without an answer, so that nothing is known. */
  let isLost = false;

  const isAllowed = (member: string, project: string): boolean =>
    bindings.some(
      ({ scope, subject }) =>
        (scope === project || scope === org) &&
        (subject === member || (subject === group && memberships.get(member)?.isThere === true)),
    );

  /** Makes a change until it is answered. */
  const change = async (what: string, call: Parameters<Caller["untilAnswered"]>[2]): Promise<boolean> => {
    const outcome = await caller.untilAnswered("write", what, call);
    if (outcome.kind !== "done") isLost = true;
    return outcome.kind === "done";
  };

  const grant = async (): Promise<void> => {
    const scope = random.chance(0.2) ? org : (random.pick(projects) ?? org);
    const subject = random.chance(0.3) ? group : (random.pick(members) ?? group);
    const name = `g-${prefix}-${++serial}`;
    const requestId = random.uuid();
    const roleBinding = { name, description: name, subjectPath: subject, rolePath: "/roles/editor" };
    const done = await change(`grant ${scope} to ${subject} ${requestId}`, (each) =>
      api.roleBindings.createRoleBinding({ parentPath: scope, roleBinding, requestId }, each),
    );
    if (!done) return;
    const binding = { collection: `${scope}/roleBindings`, name, isThere: true, scope, subject };
    bindings.push(binding);
    history.grants.push(binding);
    history.writes.push({ mark: name, resources: 1, isSure: true });
    await ask(`after the grant of ${scope} to ${subject}`);
  };

  const revoke = async (): Promise<void> => {
    const binding = random.pick(bindings);
    if (binding === undefined) return grant();
    const requestId = random.uuid();
    const path = `${binding.collection}/${binding.name}`;
    bindings = bindings.filter((each) => each !== binding);
    binding.isThere = undefined;
    const done = await change(`revoke ${path} ${requestId}`, (each) =>
      api.roleBindings.deleteRoleBinding({ path, requestId }, each),
    );
    if (!done) return;
    binding.isThere = false;
    await ask(`after ${path} was revoked from ${binding.subject}`);
  };

  const changeMembership = async (): Promise<void> => {
    const member = random.pick(members) ?? "";
    const name = member.slice(member.lastIndexOf("/") + 1);
    const membership: Grant = memberships.get(member) ?? { collection: `${group}/members`, name, isThere: false };
    const wasThere = membership.isThere;
    if (wasThere === undefined) return;
    if (!memberships.has(member)) history.grants.push(membership);
    memberships.set(member, membership);
    membership.isThere = undefined;
    const requestId = random.uuid();
    const what = `${wasThere ? "remove" : "add"} ${group}/members/${name} ${requestId}`;
    const done = await change(what, (each) =>
      wasThere
        ? api.groupMembers.deleteGroupMember({ path: `${group}/members/${name}`, requestId }, each)
        : api.groupMembers.createGroupMember(
            { parentPath: group, groupMember: { memberPath: member }, requestId },
            each,
          ),
    );
    if (!done) return;
    membership.isThere = !wasThere;
    await ask(`after ${what}`);
  };

  /** Asks all servers about all members and projects. */
  const ask = async (when: string): Promise<void> => {
    if (isLost) return;
    const pairs = members.flatMap((subjectPath) => projects.map((resourcePath) => ({ subjectPath, resourcePath })));
    const checks = pairs.map((pair) => ({ ...pair, permission }));
    await Promise.all(
      peers.map(async ({ server, access }) => {
        const outcome = await caller.once("read", `check ${when}`, (each) => access.batchCheckAccess({ checks }, each));
        if (outcome.kind !== "done") return;
        for (const [index, { subjectPath, resourcePath }] of pairs.entries()) {
          const allowed = outcome.value.results[index]?.allowed;
          const expected = isAllowed(subjectPath, resourcePath);
          if (allowed !== expected)
            findings.add(
              "a decision is wrong",
              `${when}, ${server} says ${String(allowed)} about ${subjectPath} and ${resourcePath}`,
            );
        }
      }),
    );
  };

  /** Issues a key, uses it, deletes it and uses it again. Its secret is in the first answer only, so there is one try. */
  const useKey = async (): Promise<void> => {
    const name = `k-${prefix}-${++serial}`;
    const parentPath = random.pick(members) ?? "";
    const made = await caller.once("write", `create key ${name}`, (each) =>
      api.apiKeys.createApiKey({ parentPath, apiKey: { name } }, each),
    );
    if (made.kind !== "done") return;
    const secret = made.value.secret ?? "";
    await useOnAll(secret, true, `after ${parentPath}/apiKeys/${name} was created`);
    const path = `${parentPath}/apiKeys/${name}`;
    const removed = await caller.untilAnswered(
      "write",
      `delete ${path}`,
      (each) => api.apiKeys.deleteApiKey({ path }, each),
      // The answer to the first try was lost.
      ["RESOURCE_NOT_FOUND"],
    );
    if (removed.kind === "unknown") return;
    await useOnAll(secret, false, `after ${path} was deleted`);
  };

  const useOnAll = async (secret: string, expected: boolean, when: string): Promise<void> => {
    await Promise.all(
      peers.map(async ({ server, accepts }) => {
        const outcome = await caller.once("read", `use a key ${when}`, ({ signal }) =>
          accepts(secret, { ...(signal !== undefined && { signal }) }),
        );
        if (outcome.kind === "done" && outcome.value !== expected)
          findings.add("a decision is wrong", `${when}, ${server} says ${String(outcome.value)} about the key`);
      }),
    );
  };

  const prune =
    (step: Step): Step =>
    () =>
      bindings.length > 8 ? revoke() : step();
  return {
    steps: [
      [4, prune(grant)],
      [4, revoke],
      [3, changeMembership],
      [3, () => ask("later")],
      [1, useKey],
    ],
  };
}
