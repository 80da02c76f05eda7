// Looks through the service catalog when a server starts, for types from before a rule that new ones keep. They go on as they are,
// and the log names them.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { problemOfSchema } from "../resources/parameters.ts";
import { countsByOmission } from "../resources/resource-types/counted.ts";
import { resourceTypePath } from "../resources/resource-types/message.ts";
import { listTypesAfter } from "../resources/resource-types/store.ts";
import { type RunningJob, createRuns, noteRun } from "../timers/runs.ts";

/** How many types are read at once. Their schemas are long. */
const pageSize = 50;

/** How many types a line of the log names. */
const maxNamed = 100;

interface CatalogReviewOptions {
  readonly database: Database;
  readonly logger: Logger;
}

export function startCatalogReview({ database, logger }: CatalogReviewOptions): Omit<RunningJob, "name"> {
  const closing = new AbortController();
  const runs = createRuns();

  const review = async (): Promise<void> => {
    const uncounted: string[] = [];
    let after: string | undefined;
    do {
      const types = await listTypesAfter(database.reads, after, pageSize);
      after = types.length < pageSize ? undefined : types.at(-1)?.id;
      for (const type of types) {
        const path = resourceTypePath(type);
        if (countsByOmission(type.operations)) uncounted.push(path);
        const problem = problemOfSchema(type.parameters_schema);
        if (problem !== undefined) logger.warn({ type: path, problem }, unusable);
        await nextTurn();
      }
    } while (after !== undefined && !closing.signal.aborted);
    if (uncounted.length > 0) {
      logger.warn({ types: uncounted.slice(0, maxNamed), count: uncounted.length }, countsNothing);
    }
  };

  const running = noteRun(runs, review).catch((err: unknown) => {
    if (!closing.signal.aborted) logger.warn({ err }, "failed to look through the service catalog");
  });
  return {
    runs,
    close() {
      closing.abort();
      return running;
    },
  };
}

const countsNothing =
  "these resource types are from before Quantities were counted unless they say otherwise, and count nothing against quotas; while a type has no resources, counted can be set in its operations";

const unusable =
  "no resources of this type can be created until its parameters_schema is changed; existing ones are as they were";
