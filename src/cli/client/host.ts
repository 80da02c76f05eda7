/** What a command has of the machine. Tests give their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly platform: NodeJS.Platform;
  /** Whether there is a person to ask: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  /** Whether somebody reads what is told besides the output: standard error is a terminal. */
  readonly isAttended: boolean;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** How wide the terminal is. */
  readonly columns: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Write to standard output and standard error. */
  readonly print: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Reads standard input to its end. @throws Error if there is more than a megabyte. */
  readonly readInput: () => Promise<string>;
  /** Asks the person, and returns what it types, which is not shown if it is a secret. */
  readonly ask: (question: string, isSecret?: boolean) => Promise<string>;
  /** Opens an address in the browser of the person. */
  readonly openBrowser: (url: string) => Promise<void>;
  /** Runs the editor of the person with a file, until it ends. @throws CommandError if that fails. */
  readonly edit: (file: string) => Promise<void>;
}
