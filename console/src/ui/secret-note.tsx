import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";

interface SecretNoteProps {
  readonly title: string;
  /** Says that it is shown once, and where to put it. */
  readonly intro: string;
  readonly secret: string;
  readonly onDone: () => void;
  /** What to do next. */
  readonly children: ReactNode;
}

/** Shows a new secret, which the service does not return again. */
export function SecretNote({ title, intro, secret, onDone, children }: SecretNoteProps) {
  return (
    <section className="note secret" aria-label={title}>
      <h3>{title}</h3>
      <p>{intro}</p>
      <p className="secret-line">
        <code translate="no">{secret}</code>
        <CopyButton text={secret} label={texts.keys.copySecret} />
      </p>
      {children}
      <Button onClick={onDone}>{texts.keys.secretDone}</Button>
    </section>
  );
}
