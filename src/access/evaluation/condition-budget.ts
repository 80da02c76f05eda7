// Customers write conditions, and a decision may need many of them. So each request has a budget. The cost of a condition is
// known before it is evaluated, and does not depend on the speed of the machine.
import { ServiceError } from "../../errors/service-error.ts";
import type { ConditionContext } from "../conditions/compile-condition.ts";

/** What one decision may spend: hundreds of ordinary conditions, and at most about 75 ms. */
const maxOfDecision = 5_000;

/** What all decisions of one request may spend. */
const maxOfRequest = 50_000;

/**
 * What it costs to look up a result that the request knows already. However many conditions are known, a request ends after a million
 * of them.
 */
const costOfKnown = 0.05;

/** So many characters of attributes double the cost of a condition. */
const charactersOfUnit = 256;

/** The conditions of one request: what they have cost, and their results. */
export interface RequestConditions {
  readonly startDecision: () => DecisionBudget;
  /** Returns the results for a context, by expression: a condition is evaluated once for each context. */
  readonly resultsOf: (revision: string, context: ConditionContext) => Map<string, boolean>;
}

export interface DecisionBudget {
  /** @throws ServiceError LIMIT_EXCEEDED when the decision or the request has spent its budget. */
  readonly spend: (cost: number, context: ConditionContext) => void;
  /** Spends what it costs to look up a known result. Throws as `spend` does. */
  readonly spendOnKnown: () => void;
}

interface Attributes {
  readonly number: number;
  readonly factor: number;
}

export function createRequestConditions(): RequestConditions {
  const results = new Map<string, Map<string, boolean>>();
  const known = new Map<ConditionContext["context"], Attributes>();
  let spent = 0;

  const attributesOf = ({ context }: ConditionContext): Attributes => {
    const found = known.get(context);
    if (found !== undefined) return found;
    const added = { number: known.size, factor: 1 + JSON.stringify(context).length / charactersOfUnit };
    known.set(context, added);
    return added;
  };

  return {
    startDecision() {
      let spentByDecision = 0;
      const add = (weighted: number): void => {
        spentByDecision += weighted;
        spent += weighted;
        if (spentByDecision > maxOfDecision) throw tooCostly(ofDecision);
        if (spent > maxOfRequest) throw tooCostly(ofWholeRequest);
      };
      return {
        spend: (cost, context) => add(cost * attributesOf(context).factor),
        spendOnKnown: () => add(costOfKnown),
      };
    },

    resultsOf(revision, context) {
      const { request, resource, subject } = context;
      const labels = JSON.stringify(resource.labels);
      const ofRequest = [revision, request.time.getTime(), attributesOf(context).number];
      const key = [...ofRequest, subject.path, resource.path, labels].join(" ");
      const found = results.get(key) ?? new Map<string, boolean>();
      results.set(key, found);
      return found;
    },
  };
}

interface Budget {
  readonly what: string;
  readonly limit: number;
  readonly help: string;
}

const ofDecision: Budget = {
  what: "decision",
  limit: maxOfDecision,
  help: "combine or remove conditional role bindings of the subject and its groups, or send a smaller context",
};

const ofWholeRequest: Budget = {
  what: "request",
  limit: maxOfRequest,
  help: "ask about fewer subjects, resources or permissions at once",
};

function tooCostly({ what, limit, help }: Budget): ServiceError {
  const description = `the conditions that this ${what} needs cost more than ${limit}; ${help}`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { limit: String(limit) },
    quotas: [{ subject: "conditions", description }],
  });
}
