// A terminal in which tests run the command line against a real service, and the transcripts of what a person sees there.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Host } from "../../../src/cli/client/host.ts";
import { runCommandLine } from "../../../src/cli/client/run.ts";

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether it is one; otherwise, input and output are those of a program. */
  readonly isTerminal?: boolean;
  /** Whether somebody can be asked; false where a terminal shows what a command prints that reads a file. */
  readonly isInteractive?: boolean;
  /** What the person answers to questions, in their order. */
  readonly answers?: readonly string[];
  /** Standard input, which can be read once. */
  readonly input?: string;
  readonly openBrowser?: (url: string) => Promise<void>;
  readonly edit?: (file: string) => Promise<void>;
  readonly signal?: AbortSignal;
  /** Called with all that is printed. */
  readonly onOutput?: (text: string) => void;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in their order. */
  readonly shown: string;
}

export interface Terminal {
  readonly home: string;
  /** Runs `tenantry` with words, or with those of a line, which are split as a shell splits them. */
  readonly run: (line: string | readonly string[], options?: TerminalOptions) => Promise<Ran>;
}

/** Opens a terminal of a person who has no profiles yet. */
export async function openTerminal(usual: TerminalOptions = {}): Promise<Terminal> {
  const home = await mkdtemp(join(tmpdir(), "tenantry-client-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return {
    home,
    async run(line, options = {}) {
      const {
        env = {},
        isTerminal = true,
        isInteractive = isTerminal,
        answers = [],
        input = "",
        ...rest
      } = { ...usual, ...options };
      const left = [...answers];
      const unread = [input];
      const printed = { stdout: "", stderr: "", shown: "" };
      const write = (stream: "stdout" | "stderr") => (text: string) => {
        printed[stream] += text;
        printed.shown += text;
        rest.onOutput?.(text);
      };
      const host: Host = {
        // There is no operator's key where tests run.
        env: { TENANTRY_DATA: home, ...usual.env, ...env },
        homeDirectory: home,
        platform: process.platform,
        isInteractive,
        isAttended: isTerminal,
        isTerminal,
        columns: 80,
        now: Date.now,
        signal: rest.signal ?? new AbortController().signal,
        print: write("stdout"),
        warn: write("stderr"),
        readInput: () => Promise.resolve(unread.shift() ?? ""),
        ask(question) {
          const answer = left.shift() ?? "";
          write("stderr")(`${question}${answer}\n`);
          return Promise.resolve(answer);
        },
        openBrowser: rest.openBrowser ?? (() => Promise.resolve()),
        edit: rest.edit ?? (() => Promise.resolve()),
      };
      const code = await runCommandLine(host, typeof line === "string" ? splitLine(line) : line, "1.2.3");
      return { code, ...printed };
    },
  };
}

function splitLine(line: string): readonly string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  );
}

/**
 * Returns a transcript: each command, and what a person sees.
 *
 * @param names what stands for what differs in each run, by what it is.
 */
export async function transcribe(
  { run }: Pick<Terminal, "run">,
  lines: readonly (string | readonly [line: string, options: TerminalOptions])[],
  names: Readonly<Record<string, string>>,
): Promise<string> {
  let text = "";
  for (const each of lines) {
    const [line, options] = typeof each === "string" ? [each, {}] : each;
    const { code, shown } = await run(line, options);
    text += `$ tenantry ${line}\n${shown}${code === 0 ? "" : `[exit code ${code}]\n`}\n`;
  }
  return normalise(text, names);
}

function normalise(text: string, names: Readonly<Record<string, string>>): string {
  const named = Object.entries(names).reduce((from, [name, stands]) => from.replaceAll(name, stands), text);
  return named
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/tenantry_\w+/g, "<key>")
    .replaceAll(/(?<=\s|\()\d+[smh](?= ago\)|$)/gm, "3s")
    .replaceAll(/(?<=state=|code_challenge=)[\w-]+|(?<=127\.0\.0\.1%3A)\d+/g, "...");
}
