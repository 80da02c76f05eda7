// The program of examples/log that checks an export, in one process for many files: to start one takes longer than to check a file.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { required } from "../../src/errors/required.ts";

const folder = join(import.meta.dirname, "../../examples/log");

/** Runs the program with the arguments in each line of JSON, and answers with a line that has what it has printed. */
const loop = `
import contextlib, io, json, sys
sys.path.insert(0, ${JSON.stringify(folder)})
import verify
for line in sys.stdin:
    sys.argv = ["verify.py", *json.loads(line)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        verify.main()
    print(json.dumps(printed.getvalue()), flush=True)
`;

export function startLogVerifier() {
  const child = spawn("python3", ["-c", loop], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    /** Returns what the program prints. One call at a time. */
    async verify(args: readonly string[]): Promise<string> {
      child.stdin.write(`${JSON.stringify(args)}\n`);
      const { value } = await answers.next();
      return JSON.parse(required(value)) as string;
    },
    close: () => void child.stdin.end(),
  };
}
