import { useQuery } from "@tanstack/react-query";
import type { Contract } from "../../../src/cli/client/contract/contract.ts";
import { commandOf } from "../calls/command.ts";
import { curlOf } from "../calls/curl.ts";
import type { RestCall } from "../calls/rest-call.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./copy-button.tsx";
import type { Program } from "./shell-panel.tsx";

/** What the command line knows of the API. It is large. */
const contractQuery = {
  queryKey: ["command line"],
  queryFn: async (): Promise<Contract> => (await import("../../../gen/command-line.ts")).contract,
  staleTime: Infinity,
};

/** Calls as commands that are typed into a shell, each once. */
export function ShellCommands({ calls, program }: { readonly calls: readonly RestCall[]; readonly program: Program }) {
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
