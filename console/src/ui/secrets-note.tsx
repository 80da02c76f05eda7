import type { ReactNode } from "react";
import { secretTexts } from "../texts/secret-texts.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { SecretNote } from "./secret-note.tsx";

/** A secret, and the name of what has it. */
interface NamedSecret {
  readonly name: string;
  readonly secret?: string | undefined;
}

interface SecretsNoteProps {
  /** Of one. */
  readonly title: string;
  readonly intro: string;
  readonly secrets: readonly NamedSecret[];
  readonly onDone: () => void;
  /** What to do next. */
  readonly children: ReactNode;
}

const { keys: words } = secretTexts;

/** Shows new secrets, if there are any, which the service does not return again. Several are copied as lines of a table, too. */
export function SecretsNote({ title, intro, secrets, onDone, children }: SecretsNoteProps) {
  const [first, second] = secrets;
  if (first === undefined) return null;
  if (second === undefined) {
    return (
      <SecretNote title={title} intro={intro} secret={first.secret ?? ""} onDone={onDone}>
        {children}
      </SecretNote>
    );
  }
  const lines = secrets.map(({ name, secret = "" }) => `${name}\t${secret}\n`);
  return (
    <section className="note secret" aria-label={words.title}>
      <h3>{words.title}</h3>
      <p>{words.once}</p>
      <ul className="secrets">
        {secrets.map(({ name, secret = "" }) => (
          <li key={name} className="secret-line">
            <bdi>{name}</bdi>
            <code translate="no">{secret}</code>
            <CopyButton text={secret} label={words.copyOf(name)} />
          </li>
        ))}
      </ul>
      {children}
      <div className="actions">
        <CopyButton text={lines.join("")} label={words.copyAll} />
        <Button onClick={onDone}>{words.haveAll}</Button>
      </div>
    </section>
  );
}
