import { type Api, uniqueName } from "./api.ts";
import { type Failure, failureOf } from "./failure.ts";

/** Creates members until one is refused. Returns the names of all that were created, and the failure of the last. */
export async function writeUntilFull(
  { members }: Api,
  parentPath: string,
): Promise<{ readonly made: readonly string[]; readonly failure: Failure }> {
  const made: string[] = [];
  for (;;) {
    const name = uniqueName("member");
    const write = members.createMember({ parentPath, member: { name, description: "x".repeat(1_000) } });
    const failure = await write.then(
      () => undefined,
      () => failureOf(write),
    );
    if (failure !== undefined) return { made, failure };
    made.push(name);
  }
}
