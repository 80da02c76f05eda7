import { useSyncExternalStore } from "react";
import { useConsole } from "../app/console-context.ts";
import { curlOf } from "../calls/curl.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./copy-button.tsx";

/** Shows how to do with curl what the screen has done. */
export function CurlPanel() {
  const { calls } = useConsole();
  const made = useSyncExternalStore(calls.subscribe, calls.snapshot);
  const commands = [...new Set(made.flatMap(({ method, request }) => curlOf(method, request, location.origin) ?? []))];
  if (commands.length === 0) return null;
  return (
    <details className="curl">
      <summary>{texts.curl.title(commands.length)}</summary>
      <p className="quiet-text">{texts.curl.intro}</p>
      <ol>
        {commands.map((command) => (
          <li key={command}>
            <code translate="no">{command}</code>
            <CopyButton text={command} />
          </li>
        ))}
      </ol>
    </details>
  );
}
