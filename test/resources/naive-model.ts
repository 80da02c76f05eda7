// What resources, operations and quotas must be, written from docs/providers.md: a list in memory that is summed up each time.
// Amounts are whole tenths of a core.

export interface ModelOperation {
  readonly path: string;
  readonly verb: "create" | "resize" | "start" | "snapshot" | "delete" | "undelete" | "purge";
  /** Undefined if the operation does not name the Quantity. */
  readonly wanted: number | undefined;
  prior: "ACTIVE" | "FAILED" | "DELETED" | undefined;
  state: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED";
  attempts: number;
  cancelRequested: boolean;
}

export interface ModelResource {
  readonly path: string;
  readonly project: number;
  /** Whether its type has undelete and purge. */
  readonly canBeRestored: boolean;
  state: "CREATING" | "ACTIVE" | "UPDATING" | "FAILED" | "DELETING" | "DELETED";
  /** What was asked for. */
  wanted: number;
  /** What it has; undefined until it was created. */
  given: number | undefined;
  /** Those that run: snapshots beside each other, others alone. */
  operations: ModelOperation[];
}

type Level = "customer" | "org" | "project";
const levels: readonly Level[] = ["customer", "org", "project"];

/** Two orgs of one customer with two projects each. */
export const projectCount = 4;

const scopeOf = (level: Level, project: number): string =>
  ({ customer: "customer", org: `org ${project >> 1}`, project: `project ${project}` })[level];

export const scopes: readonly string[] = [
  "customer",
  ...[0, 2].map((project) => scopeOf("org", project)),
  ...[0, 1, 2, 3].map((project) => scopeOf("project", project)),
];

const isEnded = ({ state }: ModelOperation): boolean => state !== "PENDING" && state !== "RUNNING";

function heldBy({ given = 0, wanted, operations }: ModelResource): { used: number; reserved: number } {
  // Snapshots, which run beside each other, want the same.
  const [operation] = operations;
  if (operation === undefined || operation.verb === "delete" || operation.verb === "purge")
    return { used: given, reserved: 0 };
  // What has failed to be created is to have what was asked for, whichever operation makes it work.
  const next = operation.wanted ?? Math.max(given, wanted);
  return { used: given, reserved: Math.max(0, next - given) };
}

export function createNaiveModel() {
  const resources = new Map<string, ModelResource>();
  const operations: ModelOperation[] = [];
  const limits = new Map<string, number>();

  const sumOf = (scope: string): { used: number; reserved: number } => {
    const sum = { used: 0, reserved: 0 };
    for (const resource of resources.values()) {
      if (!levels.some((level) => scopeOf(level, resource.project) === scope)) continue;
      const { used, reserved } = heldBy(resource);
      sum.used += used;
      sum.reserved += reserved;
    }
    return sum;
  };

  /** Whether all levels of a project have room for more; less always fits. */
  const hasRoom = (project: number, more: number): boolean =>
    more <= 0 ||
    levels.every((level) => {
      const scope = scopeOf(level, project);
      const { used, reserved } = sumOf(scope);
      return used + reserved + more <= (limits.get(scope) ?? Infinity);
    });

  const totalOf = (resource: ModelResource): number => {
    const { used, reserved } = heldBy(resource);
    return used + reserved;
  };

  const begin = (resource: ModelResource, verb: ModelOperation["verb"], wanted?: number): ModelOperation => {
    const { state, operations: running } = resource;
    const prior =
      running[0] !== undefined
        ? running[0].prior
        : state === "ACTIVE" || state === "FAILED" || state === "DELETED"
          ? state
          : undefined;
    const operation: ModelOperation = {
      path: "",
      verb,
      wanted,
      prior,
      state: "PENDING",
      attempts: 0,
      cancelRequested: false,
    };
    return operation;
  };

  const end = (
    resource: ModelResource,
    operation: ModelOperation,
    state: ModelOperation["state"],
    next: ModelResource["state"] | "gone",
  ): void => {
    operation.state = state;
    resource.operations = resource.operations.filter((each) => each !== operation);
    if (next === "gone") resources.delete(resource.path);
    else if (resource.operations.length === 0) resource.state = next;
  };

  return {
    resources,
    operations,
    limits,
    sumOf,
    /** @returns false if a quota has no room. */
    create(
      { path, project, canBeRestored }: Pick<ModelResource, "path" | "project" | "canBeRestored">,
      wanted: number,
      started: (operation: ModelOperation) => void,
    ): boolean {
      if (!hasRoom(project, wanted)) return false;
      const resource: ModelResource = {
        path,
        project,
        canBeRestored,
        state: "CREATING",
        wanted,
        given: undefined,
        operations: [],
      };
      const operation = begin(resource, "create", wanted);
      resource.operations = [operation];
      resources.set(path, resource);
      started(operation);
      return true;
    },
    /** @returns false if a quota has no room. */
    change(
      resource: ModelResource,
      verb: ModelOperation["verb"],
      wanted: number | undefined,
    ): ModelOperation | undefined {
      const operation = begin(resource, verb, wanted);
      const running = [...resource.operations, operation];
      const more = totalOf({ ...resource, operations: running }) - totalOf(resource);
      if (!hasRoom(resource.project, more)) return undefined;
      resource.operations = running;
      if (verb !== "purge") resource.state = verb === "delete" ? "DELETING" : "UPDATING";
      return operation;
    },
    /** @returns false if more was given than there is room for. */
    complete(resource: ModelResource, operation: ModelOperation, surplus: number): boolean {
      if (operation.verb === "delete" || operation.verb === "purge") {
        end(
          resource,
          operation,
          "SUCCEEDED",
          operation.verb === "delete" && resource.canBeRestored ? "DELETED" : "gone",
        );
        return true;
      }
      const given =
        operation.wanted === undefined ? Math.max(resource.given ?? 0, resource.wanted) : operation.wanted + surplus;
      if (!hasRoom(resource.project, given - totalOf(resource))) return false;
      end(resource, operation, "SUCCEEDED", "ACTIVE");
      for (const each of resource.operations) each.prior = "ACTIVE";
      resource.wanted = operation.wanted ?? resource.wanted;
      resource.given = given;
      return true;
    },
    fail(resource: ModelResource, operation: ModelOperation, retry: boolean): void {
      if (retry && operation.attempts < 10 && !operation.cancelRequested) {
        operation.state = "PENDING";
        return;
      }
      if (operation.cancelRequested) end(resource, operation, "CANCELLED", operation.prior ?? "gone");
      else
        end(
          resource,
          operation,
          "FAILED",
          operation.verb === "create" || operation.verb === "delete" ? "FAILED" : operation.prior!,
        );
    },
    /** The job has found that no attempt is left. */
    exhaust(resource: ModelResource, operation: ModelOperation): void {
      end(
        resource,
        operation,
        "FAILED",
        operation.verb === "create" || operation.verb === "delete" ? "FAILED" : operation.prior!,
      );
    },
    cancel(resource: ModelResource, operation: ModelOperation): void {
      if (operation.attempts === 0) end(resource, operation, "CANCELLED", operation.prior ?? "gone");
      else operation.cancelRequested = true;
    },
    /** @returns false if a quota has no room. */
    report(resource: ModelResource, state: "ACTIVE" | "FAILED", given: number | undefined): boolean {
      const floor = state === "ACTIVE" ? Math.max(resource.given ?? 0, resource.wanted) : resource.given;
      const next = given ?? floor;
      if (!hasRoom(resource.project, (next ?? 0) - (resource.given ?? 0))) return false;
      resource.state = state;
      resource.given = next;
      return true;
    },
    /** Everything, in lines that are compared with those of the database. */
    lines(): string[] {
      const tenths = (amount: number | undefined): string => (amount === undefined ? "-" : String(amount / 10));
      return [
        ...scopes.map((scope) => {
          const { used, reserved } = sumOf(scope);
          return `${scope}: ${tenths(limits.get(scope))} ${tenths(used)} ${tenths(reserved)}`;
        }),
        ...[...resources.values()].map(
          ({ path, state, wanted, given }) => `${path}: ${state} ${tenths(wanted)} ${tenths(given)}`,
        ),
        ...operations.map((operation) => {
          const { path, verb, state, cancelRequested } = operation;
          return `${path}: ${verb} ${state} ${cancelRequested} ${isEnded(operation)}`;
        }),
      ].toSorted();
    },
  };
}
