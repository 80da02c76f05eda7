// Keywords that limit no value: they describe it, or name a schema.
import type { JsonValue } from "@bufbuild/protobuf";
import { type KeywordReader, type Keywords, type ReadKeyword, readBoolean, readObject, readText } from "../keyword.ts";

const dialect = "https://json-schema.org/draft/2020-12/schema";

function readDialect(reader: KeywordReader): undefined {
  if (readText(reader).replace(/#$/, "") !== dialect) reader.fail(`must be ${dialect}`);
}

const ignored =
  (check: (reader: KeywordReader) => unknown): ReadKeyword =>
  (reader) => {
    check(reader);
    return undefined;
  };

function readAnchor(reader: KeywordReader): undefined {
  const accepted = /^[A-Za-z_][-A-Za-z0-9._]*$/;
  if (!accepted.test(readText(reader)))
    reader.fail("must start with a letter or _, and have only letters, digits and -._");
}

function readDefinitions(reader: KeywordReader): undefined {
  for (const [name, value] of Object.entries(readObject(reader))) reader.read(value, [name]);
}

const anything = (_reader: { readonly value: JsonValue }): void => undefined;

export const annotationKeywords: Keywords = {
  $schema: readDialect,
  $id: ignored(readText),
  $anchor: readAnchor,
  $dynamicAnchor: readAnchor,
  $comment: ignored(readText),
  $vocabulary: ignored(readObject),
  $defs: readDefinitions,
  definitions: readDefinitions,
  title: ignored(readText),
  description: ignored(readText),
  default: ignored(anything),
  deprecated: ignored(readBoolean),
  readOnly: ignored(readBoolean),
  writeOnly: ignored(readBoolean),
  examples: ignored(({ value, fail }) => Array.isArray(value) || fail("must be array")),
  // As draft 2020-12 has them, formats and contents are descriptions.
  format: ignored(readText),
  contentEncoding: ignored(readText),
  contentMediaType: ignored(readText),
  contentSchema: ignored(({ value, read }) => read(value, [])),
};
