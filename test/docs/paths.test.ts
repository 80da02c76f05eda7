// Files that documents name exist.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const documents = globSync(["*.md", "docs/**/*.md", "src/**/*.md", "examples/**/*.md", "bench/**/*.md"], { cwd: root });

/** Examples of what a reader adds. */
const examples = new Set(["proto/iam/v1alpha/widget.proto"]);

/** Where a path in a document may start. */
const starts = ["", "src", "test"];

const exists = (path: string): boolean => existsSync(join(root, path));

test.each(documents)("%s", (document) => {
  const text = readFileSync(join(root, document), "utf8").replaceAll(/```.*?```/gs, "");
  const linked = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g)].map(([, path = ""]) => path);
  const quoted = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|sql|proto|md|txt|yaml))`/g)].map(
    ([, path = ""]) => path,
  );
  const missing = [
    ...linked.filter((path) => !path.startsWith("/") && !exists(join(dirname(document), path))),
    ...quoted.filter((path) => ![dirname(document), ...starts].some((start) => exists(join(start, path)))),
  ];
  expect(missing.filter((path) => !examples.has(path))).toEqual([]);
});
