import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = import.meta.dirname;

/** What protojson answers: bytes, or its error. */
export type Answer =
  | { readonly ok: Uint8Array; readonly refused?: undefined }
  | { readonly ok?: undefined; readonly refused: string };

/** The protojson of Go in a process of its own. */
export interface Protojson extends AsyncDisposable {
  /** Answers the binary of the message that JSON says. */
  read(typeName: string, json: string): Promise<Answer>;
  /** Answers the JSON of a message in binary, with the names of the proto. */
  write(typeName: string, binary: Uint8Array): Promise<Answer>;
}

/** Compiles and starts protojson with the types in test/rest/proto. Needs Go. */
export async function startProtojson(): Promise<Protojson> {
  const directory = await mkdtemp(join(tmpdir(), "protojson-"));
  const [program, descriptors] = [join(directory, "protojson"), join(directory, "descriptors.binpb")];
  await run("buf", ["build", join(folder, "../rest/proto"), "--output", descriptors]);
  await run("go", ["build", "-o", program, "."], { cwd: folder });
  const child = spawn(program, [descriptors], { stdio: ["pipe", "pipe", "inherit"] });

  const waiting: PromiseWithResolvers<Answer>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(answerOf(line)));
  child.once("exit", (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`protojson ended with ${code}`));
  });
  function exchange(verb: string, typeName: string, bytes: Uint8Array): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    waiting.push(answer);
    child.stdin.write(`${verb} ${typeName} ${Buffer.from(bytes).toString("base64")}\n`);
    return answer.promise;
  }
  return {
    read: (typeName, json) => exchange("read", typeName, Buffer.from(json)),
    write: (typeName, binary) => exchange("write", typeName, binary),
    async [Symbol.asyncDispose]() {
      await stop(child);
      await rm(directory, { recursive: true });
    },
  };
}

function answerOf(line: string): Answer {
  const [outcome, rest = ""] = line.split(/ (.*)/s);
  return outcome === "ok" ? { ok: new Uint8Array(Buffer.from(rest, "base64")) } : { refused: rest };
}

async function stop(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  if (child.exitCode === null) await once(child, "exit");
}
