import { useEffect, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";

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
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          {kind === undefined ? null : <p className="page-kind">{kind}</p>}
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
