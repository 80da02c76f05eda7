import { lazy, Suspense, useState, useSyncExternalStore } from "react";
import { useConsole } from "../app/console-context.ts";
import { restCallOf } from "../calls/rest-call.ts";
import { texts } from "../texts/texts.ts";

/** Loaded when somebody looks at commands. */
const ShellCommands = lazy(async () => ({ default: (await import("./shell-commands.tsx")).ShellCommands }));

/** Shows how to do in a shell what the screen has done: with the command line of the service, or with curl. */
export function ShellPanel() {
  const { calls } = useConsole();
  const made = useSyncExternalStore(calls.subscribe, calls.snapshot);
  const [isOpen, setOpen] = useState(false);
  const [program, setProgram] = useState<Program>("tenantry");
  const rest = made.flatMap(({ method, request }) => restCallOf(method, request) ?? []);
  if (rest.length === 0) return null;
  return (
    <details className="shell" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.shell.title(rest.length)}</summary>
      <p className="quiet-text">{texts.shell.intro}</p>
      <fieldset className="choices">
        <legend className="unseen">{texts.shell.program}</legend>
        {programs.map((each) => (
          <label key={each}>
            <input type="radio" name="program" checked={each === program} onChange={() => setProgram(each)} />
            <code translate="no">{each}</code>
          </label>
        ))}
      </fieldset>
      {isOpen && (
        <Suspense fallback={<p className="quiet-text">{texts.loading}</p>}>
          <ShellCommands calls={rest} program={program} />
        </Suspense>
      )}
    </details>
  );
}

const programs = ["tenantry", "curl"] as const;
export type Program = (typeof programs)[number];
