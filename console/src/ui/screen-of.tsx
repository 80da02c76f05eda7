import { Code, ConnectError } from "@connectrpc/connect";
import type { ReactNode } from "react";
import { problemTexts } from "../texts/problem-texts.ts";
import { type Answer, Answered, ErrorNote } from "./notes.tsx";
import { Page } from "./page.tsx";

interface ScreenOfProps<T> {
  /** The call without which there is nothing to show. */
  readonly of: Answer<T>;
  readonly children: (data: T) => ReactNode;
}

/** The screen of one thing. Where that cannot be read, it has a heading as each screen has, and says why. */
export function ScreenOf<T>({ of, children }: ScreenOfProps<T>) {
  const hasFailed = of.data === undefined && of.error !== null && of.error !== undefined;
  if (hasFailed) return <FailedScreen error={of.error} retry={() => void of.refetch()} />;
  return <Answered of={of}>{children}</Answered>;
}

interface FailedScreenProps {
  readonly error: unknown;
  readonly retry: () => void;
}

/** A screen of which nothing can be shown. */
export function FailedScreen({ error, retry }: FailedScreenProps) {
  return (
    <Page title={titleFor(error)}>
      <ErrorNote error={error} retry={retry} />
    </Page>
  );
}

function titleFor(error: unknown): string {
  const { code } = ConnectError.from(error);
  if (code === Code.NotFound) return problemTexts.missing;
  return code === Code.PermissionDenied ? problemTexts.hidden : problemTexts.failed;
}
