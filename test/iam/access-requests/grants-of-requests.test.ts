// Requests against a model: access exists exactly while it is approved by as many as the org wants, or has begun without a decision, its member is active,
// and it is not over.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { AccessRequest_State as State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { failureOf } from "../../support/failure.ts";
import { rounds, soakTimeoutMs } from "../../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../../support/shared-server.ts";
import { inHours, inMs, openAccessScene } from "./access-scene.ts";

let first: SharedServer;
let second: SharedServer;
beforeAll(async () => {
  first = await sharedServer();
  second = await secondSharedServer();
});

/** A request as the model knows it. */
interface Known {
  readonly path: string;
  readonly scope: string;
  state: State;
  binding: string;
  /** Which of the owners has approved first. */
  first?: number;
}

/** How often each is drawn. */
const verbs = {
  ask: 4,
  approve: 5,
  approveOwn: 1,
  begin: 1,
  want: 1,
  toggleOwner: 2,
  decline: 1,
  cancel: 1,
  end: 2,
  remove: 1,
  toggle: 2,
  letPass: 1,
} as const;

type Verb = keyof typeof verbs;

const steps = fc.array(
  fc.record({
    verb: fc.oneof(
      ...Object.entries(verbs).map(([verb, weight]) => ({ weight, arbitrary: fc.constant(verb as Verb) })),
    ),
    number: fc.nat(100),
    isSecond: fc.boolean(),
  }),
  { minLength: rounds(20, 60), maxLength: rounds(20, 60) },
);

test(
  "access exists exactly while it is approved, its member is active, and it is not over",
  { timeout: soakTimeoutMs },
  () => fc.assert(fc.asyncProperty(steps, run), { numRuns: rounds(2, 300), endOnFailure: true }),
);

async function run(drawn: readonly { verb: Verb; number: number; isSecond: boolean }[]): Promise<void> {
  const scene = await openAccessScene(first);
  const { operator, ask, at, person, org, web, shop } = scene;
  const [alice, owner, other] = [await person(), await person("/roles/owner"), await person("/roles/owner")];
  const emergency = { name: "emergency", permissions: ["iam.accessRequests.breakGlass"] };
  const { path: rolePath } = await operator.api.roles.createRole({ parentPath: org, role: emergency });
  const mayBegin = { name: "may-begin", subjectPath: alice.path, rolePath };
  await operator.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding: mayBegin });
  /** How many approvals the org wants, and whether each owner is active. */
  let wanted = 1;
  const activeOwners = [true, true];
  const known: Known[] = [];
  let isActive = true;

  /** Makes a call that the model expects to succeed, or to be refused. */
  const expecting = async (isPossible: boolean, call: Promise<unknown>): Promise<void> => {
    if (isPossible) await call;
    else expect(["STATE_FORBIDS", "PERMISSION_DENIED", "TOKEN_INVALID"]).toContain((await failureOf(call)).reason);
  };

  for (const { verb, number, isSecond } of drawn) {
    const on = isSecond ? second : first;
    const [asking, deciding] = [at(alice, on).requests, at(owner, on).requests];
    const approving = [deciding, at(other, on).requests];
    const one = known[number % Math.max(known.length, 1)];
    const scope = required([org, web, shop][number % 3]);
    if (verb === "ask") {
      const waiting = known.filter(({ state }) => state === State.PENDING);
      if (!isActive || waiting.length === 10) continue;
      const { path } = await ask(at(alice, on), scope);
      known.push({ path, scope, state: State.PENDING, binding: "" });
    } else if (verb === "toggle") {
      const { members } = operator.api;
      await (isActive ? members.suspendMember({ path: alice.path }) : members.activateMember({ path: alice.path }));
      isActive = !isActive;
    } else if (verb === "toggleOwner") {
      const { members } = operator.api;
      const { path } = other;
      await (activeOwners[1] === true ? members.suspendMember({ path }) : members.activateMember({ path }));
      activeOwners[1] = activeOwners[1] !== true;
    } else if (verb === "want") {
      wanted = 3 - wanted;
      const updateMask = { paths: ["access_request_approvals"] };
      await operator.api.orgs.updateOrg({ path: org, org: { accessRequestApprovals: wanted }, updateMask });
    } else if (verb === "begin") {
      if (!isActive) continue;
      const { path, roleBindingPath } = await ask(at(alice, on), scope, "/roles/viewer", inHours(1), true);
      known.push({ path, scope, state: State.APPROVED, binding: roleBindingPath });
    } else if (verb === "approve") {
      if (one !== undefined) await approve(one, approving, number % 2);
    } else if (verb === "letPass") {
      if (!isActive) continue;
      known.push(await passing(scope));
    } else if (one !== undefined) {
      await answer(verb, one, asking, deciding);
    }
    await compare(on);
  }

  /** One of two owners approves: the one decides who is the last of as many as the org wants, and who are active. */
  async function approve(one: Known, approving: readonly (typeof alice.requests)[], who: number): Promise<void> {
    const { path, state } = one;
    const isRepeated = wanted === 2 && one.first === who;
    const isPossible = state === State.PENDING && isActive && activeOwners[who] === true && !isRepeated;
    const answered = required(approving[who]).approveAccessRequest({ path });
    await expecting(isPossible, answered);
    if (!isPossible) return;
    if (wanted === 2 && (one.first === undefined || activeOwners[one.first] !== true)) {
      one.first = who;
      return;
    }
    one.state = State.APPROVED;
    one.binding = (await answered).roleBindingPath;
  }

  /** Has access approved for a moment, and waits until that is over. */
  async function passing(scope: string): Promise<Known> {
    const { end, path } = await askForAMoment(scope);
    // On a slow machine the moment may be over by then.
    const state = await owner.requests.approveAccessRequest({ path }).then(
      () => (wanted === 1 ? State.ENDED : State.EXPIRED),
      () => State.EXPIRED,
    );
    while (Date.now() <= timestampDate(end).getTime() + 20) await delay(20);
    return { path, scope, state, binding: "" };
  }

  /** Asks for a longer moment where the machine is so slow that a short one is over before it is asked for. */
  async function askForAMoment(scope: string, ms = 500): Promise<{ readonly end: Timestamp; readonly path: string }> {
    const end = inMs(ms);
    const asked = await ask(alice, scope, "/roles/viewer", end).catch(() => undefined);
    return asked === undefined ? askForAMoment(scope, 4 * ms) : { end, path: asked.path };
  }

  async function answer(
    verb: Exclude<Verb, "ask" | "approve" | "begin" | "want" | "toggle" | "toggleOwner" | "letPass">,
    one: Known,
    asking: typeof alice.requests,
    deciding: typeof owner.requests,
  ): Promise<void> {
    const { path, state } = one;
    const [waits, lasts] = [state === State.PENDING, state === State.APPROVED];
    switch (verb) {
      case "approveOwn":
        return expecting(false, asking.approveAccessRequest({ path }));
      case "decline":
        await expecting(waits, deciding.declineAccessRequest({ path }));
        if (waits) one.state = State.DECLINED;
        return;
      case "cancel":
        await expecting(waits && isActive, asking.cancelAccessRequest({ path }));
        if (waits && isActive) one.state = State.CANCELLED;
        return;
      case "end":
        await expecting(lasts, deciding.endAccessRequest({ path }));
        if (lasts) one.state = State.ENDED;
        return;
      case "remove":
        // By hand, as any other role binding.
        if (!lasts) return;
        await operator.api.roleBindings.deleteRoleBinding({ path: one.binding });
        one.state = State.ENDED;
    }
  }

  async function compare(server: SharedServer): Promise<void> {
    const { requests, access } = at(operator, server);
    const { accessRequests } = await requests.listAccessRequests({ parentPath: org, pageSize: 100 });
    expect(accessRequests.map(({ path, state }) => [path, state])).toEqual(
      known.map(({ path, state }) => [path, state]),
    );
    for (const resourcePath of [web, shop]) {
      const { allowed } = await access.checkAccess({
        subjectPath: alice.path,
        permission: "iam.projects.get",
        resourcePath,
      });
      const isGranted = known.some(
        ({ state, scope }) => state === State.APPROVED && (scope === org || scope === resourcePath),
      );
      expect(allowed).toBe(isActive && isGranted);
    }
  }
}

test("of decisions on two servers at once, exactly one is made, and its role binding is the only one", async () => {
  const { operator, ask, at, person, org, web } = await openAccessScene(first);
  const [alice, one, other] = [await person(), await person("/roles/owner"), await person("/roles/owner")];
  for (let round = 0; round < rounds(4, 200); round++) {
    const { path } = await ask(alice);
    const calls = [one, at(other, second)].flatMap(({ requests }) => [
      requests.approveAccessRequest({ path }),
      requests.declineAccessRequest({ path }),
    ]);
    calls.push(at(alice, second).requests.cancelAccessRequest({ path }));
    const outcomes = await Promise.allSettled(calls);
    const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(made).toHaveLength(1);
    const request = await operator.requests.getAccessRequest({ path });
    expect(request).toEqual(made[0]);
    const { roleBindings } = await operator.api.roleBindings.listRoleBindings({ parentPath: web });
    const isGranted = request.state === State.APPROVED;
    expect(roleBindings.map((each) => each.path)).toEqual(isGranted ? [request.roleBindingPath] : []);
    if (isGranted) await operator.requests.endAccessRequest({ path });
  }
  // The log tells each step, with the role binding in the same revision as the approval.
  const { changes } = await operator.api.changes.listChanges({ parentPath: org, pageSize: 1000 });
  const approvals = changes.filter(({ method }) => method.endsWith("/ApproveAccessRequest"));
  const byRevision = Map.groupBy(approvals, ({ revision }) => revision);
  for (const together of byRevision.values())
    expect(together.map(({ resourceType }) => resourceType)).toEqual(["AccessRequest", "RoleBinding"]);
});
