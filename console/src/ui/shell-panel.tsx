import { useQuery } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import type { Contract } from "../../../src/cli/client/contract/contract.ts";
import { useConsole } from "../app/console-context.ts";
import { commandOf } from "../calls/command.ts";
import { curlOf } from "../calls/curl.ts";
import { type RestCall, restCallOf } from "../calls/rest-call.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./copy-button.tsx";

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
      {isOpen && <Commands calls={rest} program={program} />}
    </details>
  );
}

const programs = ["tenantry", "curl"] as const;
type Program = (typeof programs)[number];

/** What the command line knows of the API. It is large, and loaded when somebody looks at commands. */
const contractQuery = {
  queryKey: ["command line"],
  queryFn: async (): Promise<Contract> => (await import("../../../gen/command-line.ts")).contract,
  staleTime: Infinity,
};

function Commands({ calls, program }: { readonly calls: readonly RestCall[]; readonly program: Program }) {
  const { data: contract } = useQuery(contractQuery);
  if (contract === undefined) return <p className="quiet-text">{texts.loading}</p>;
  const write = (call: RestCall): string | undefined =>
    program === "curl" ? curlOf(call, location.origin) : commandOf(contract, call);
  return (
    <ol>
      {[...new Set(calls.flatMap((call) => write(call) ?? []))].map((command) => (
        <li key={command}>
          <code translate="no">{command}</code>
          <CopyButton text={command} />
        </li>
      ))}
    </ol>
  );
}
