// Preloaded into the servers of a soak: at SIGUSR2, collects garbage and appends the memory that is left to a file, in bytes. What
// a process has resident depends on how much garbage there was at its worst; this does not.
import { appendFileSync } from "node:fs";

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  // Buffers are freed after the collection that finds them.
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    appendFileSync(process.env["LIVE_MEMORY_FILE"] ?? "live-memory", `${heapUsed + arrayBuffers}\n`);
  });
});
