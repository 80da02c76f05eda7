/** The exit codes. `docs/command-line.md` lists them. */
export const exitCodes = {
  done: 0,
  /** The service refused the call, or the answer is no. */
  refused: 1,
  /** An org differs from its file. */
  differs: 2,
  notFound: 3,
  /** Nobody is signed in, or who is may not do it. */
  denied: 4,
  /** The service cannot be reached, is too busy, or limits the rate of calls. */
  tryAgain: 5,
  /** The command line is wrong, or what it gives the service. */
  usage: 64,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error that is shown as one line, or as one for each of several problems. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** A reason for programs: `USAGE`, or that of the service. */
  readonly reason: string;
  /** The problems, if they are told one by one to people; empty if the message has all. */
  readonly problems: readonly string[];
  /** What to run next; undefined if nothing helps. */
  readonly next: string | undefined;
  /** The error as the service has sent it. */
  readonly body: unknown;

  constructor(
    message: string,
    given: {
      readonly exitCode?: ExitCode;
      readonly reason?: string;
      readonly problems?: readonly string[];
      readonly next?: string | undefined;
      readonly body?: unknown;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: given.cause });
    this.exitCode = given.exitCode ?? exitCodes.usage;
    this.reason = given.reason ?? "USAGE";
    this.problems = given.problems ?? [];
    this.next = given.next;
    this.body = given.body;
  }
}
