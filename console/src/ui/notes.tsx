import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { nameOf } from "../calls/paths.ts";
import { readProblem } from "../calls/read-problem.ts";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { ProblemText } from "./problem-text.tsx";

export function Loading() {
  return (
    <p className="loading" role="status">
      {texts.loading}
    </p>
  );
}

/** Says what the service says about a call that failed. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const problem = readProblem(error);
  const { askIn, isSettled } = problem;
  return (
    <div className={isSettled ? "note" : "note problem"} role="alert">
      <ProblemText of={problem} />
      {askIn === undefined ? null : (
        <p>
          <Link
            to="/orgs/$org/accessRequests"
            params={{ org: nameOf(askIn) }}
            search={{ create: true, resource: askIn, role: "/roles/viewer" }}
          >
            {texts.requests.ask}
          </Link>
        </p>
      )}
      {retry === undefined || isSettled ? null : <Button onClick={retry}>{texts.tryAgain}</Button>}
    </div>
  );
}

/** Says what to do first where there is nothing yet. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** What is known of a call. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** Shows the answer of a call, and before it that the call is under way or what went wrong. */
export function Answered<T>({ of, children }: { readonly of: Answer<T>; readonly children: (data: T) => ReactNode }) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== null && of.error !== undefined)
    return <ErrorNote error={of.error} retry={() => void of.refetch()} />;
  return <Loading />;
}
