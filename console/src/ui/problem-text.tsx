import { lazy, Suspense } from "react";
import type { Problem } from "../calls/read-problem.ts";

/** Loaded when something is refused. */
const LackText = lazy(async () => ({ default: (await import("./lack-text.tsx")).LackText }));

/** Says what went wrong: what somebody lacks, and who can help, or else what the service says. */
export function ProblemText({ of: { message, lack } }: { readonly of: Problem }) {
  const said = (
    <p>
      <bdi>{message}</bdi>
    </p>
  );
  if (lack === undefined) return said;
  return (
    <Suspense fallback={said}>
      <LackText of={lack} message={message} />
    </Suspense>
  );
}
