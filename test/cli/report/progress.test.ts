import { expect, test } from "vitest";
import { createProgress } from "../../../src/cli/report/progress.ts";

function record(isTTY: boolean) {
  const clock = { now: 0 };
  let written = "";
  const stream = { isTTY, write: (text: string) => void (written += text) };
  return { clock, progress: createProgress(stream, () => clock.now), written: () => written };
}

test("rewrites one line on a terminal, and clears it at the end", () => {
  const { clock, progress, written } = record(true);
  progress.start("member", 3);
  progress.advance();
  clock.now = 100;
  progress.advance();
  progress.note("wait");
  progress.end();
  const erase = "\r\u001b[2K";
  expect(written()).toBe(`${erase}members 0/3${erase}members 2/3${erase}wait\nmembers 2/3${erase}`);
});

test("without a terminal, writes a line every few seconds and at the end of each kind", () => {
  const { clock, progress, written } = record(false);
  progress.start("group", 0);
  progress.end();
  progress.start("member", 2);
  clock.now = 6_000;
  progress.advance();
  progress.advance();
  progress.end();
  expect(written()).toBe("members 1/2\nmembers 2/2\n");
});
