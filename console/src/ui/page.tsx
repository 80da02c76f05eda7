import { lazy, Suspense, useEffect, type ReactNode } from "react";
import { useLocation } from "@tanstack/react-router";
import { texts } from "../texts/texts.ts";

/** Loaded by the first screen that has others above it. */
const Trail = lazy(async () => ({ default: (await import("./trail.tsx")).Trail }));

/** The paths of what is in a list of an org. */
const deep = /^\/orgs\/[^/]+\/[^/]+\/[^/]/;

interface PageProps {
  /** What the screen shows; also the title of the window. */
  readonly title: string;
  /** What kind of thing it is, above the title. */
  readonly kind?: string;
  /** Buttons that act on what the screen shows. */
  readonly actions?: ReactNode;
  readonly intro?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, kind, actions, intro, children }: PageProps) {
  const isDeep = useLocation({ select: ({ pathname }) => deep.test(pathname) });
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          <div className="page-way">
            {isDeep ? (
              <Suspense>
                <Trail />
              </Suspense>
            ) : null}
            {kind === undefined ? null : <p>{kind}</p>}
          </div>
          <h1>
            <bdi>{title}</bdi>
          </h1>
        </div>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </header>
      {intro === undefined ? null : <p className="intro">{intro}</p>}
      {children}
    </>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="section">
      <div className="section-head">
        <h2>{title}</h2>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
