import { readFileSync, readdirSync } from "node:fs";

/**
 * Returns the time that a process and its descendants have had on the processor, in microseconds, which other load on the machine
 * affects little. Only Linux tells; 0 elsewhere. What has ended does not count.
 */
export function processorTime(pid: number): number {
  let microseconds = 0;
  for (const task of listTasks(pid)) {
    microseconds += Number(readOrEmpty(`${task}/schedstat`).split(" ")[0]) / 1000;
    for (const child of readOrEmpty(`${task}/children`).split(" ").filter(Boolean)) {
      microseconds += processorTime(Number(child));
    }
  }
  return microseconds;
}

function listTasks(pid: number): string[] {
  const directory = `/proc/${pid}/task`;
  try {
    return readdirSync(directory).map((task) => `${directory}/${task}`);
  } catch {
    return [];
  }
}

/** A process may end at any time. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
