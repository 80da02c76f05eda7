import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  DescService,
} from "@bufbuild/protobuf";

type Commented = DescMessage | DescField | DescEnum | DescEnumValue | DescService | DescMethod;

/**
 * Returns the leading comment of a declaration as Markdown; empty if there is none or if the descriptors have no source
 * info.
 */
export type CommentReader = (desc: Commented) => string;

/** Field numbers of descriptor.proto. SourceCodeInfo identifies a declaration by a path of field numbers and indexes. */
const inFile = { message: 4, enum: 5, service: 6 };
const inMessage = { field: 2, message: 3, enum: 4 };
const enumValue = 2;
const serviceMethod = 2;

/** Comments for fields that this transcoder uses differently from what the comments of the well-known types say. */
const ownComments: Readonly<Record<string, string>> = {
  "google.rpc.BadRequest.FieldViolation.field":
    "The field, as a path of proto names from the request on, for example `member.display_name`.",
  "google.rpc.BadRequest.FieldViolation.reason": "The rule that is broken, for example `NAME_FORMAT`.",
};

export function createCommentReader(): CommentReader {
  const files = new Map<DescFile, ReadonlyMap<string, string>>();
  return (desc) => {
    const own = desc.kind === "field" ? ownComments[`${desc.parent.typeName}.${desc.name}`] : undefined;
    if (own !== undefined) return own;
    const file = fileOf(desc);
    let comments = files.get(file);
    if (comments === undefined) files.set(file, (comments = readFile(file)));
    return comments.get(locate(desc).join()) ?? "";
  };
}

/** Returns the first sentence of a comment, without its final punctuation. */
export function firstSentence(comment: string): string {
  const [paragraph = ""] = comment.split("\n\n");
  const end = /[.!?](?=\s+[A-Z`]|$)/.exec(paragraph);
  return end === null ? paragraph : paragraph.slice(0, end.index);
}

function readFile({ proto }: DescFile): ReadonlyMap<string, string> {
  const locations = proto.sourceCodeInfo?.location ?? [];
  return new Map(locations.map(({ path, leadingComments }) => [path.join(), unwrap(leadingComments)]));
}

/** Joins the lines of each paragraph. Lists, code and headings keep their line breaks. */
function unwrap(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^ /, "").trimEnd());
  let text = "";
  for (const line of lines) {
    const keepsBreak = line === "" || /^(\s|[-*#|>]|\d+\.|```)/.test(line);
    text += text === "" || text.endsWith("\n") || keepsBreak ? `${text === "" ? "" : "\n"}${line}` : ` ${line}`;
  }
  return text.replace(/\n{3,}/g, "\n\n").trim();
}

function fileOf(desc: Commented): DescFile {
  if (desc.kind === "enum_value" || desc.kind === "field" || desc.kind === "rpc") return desc.parent.file;
  return desc.file;
}

function locate(desc: Commented): number[] {
  switch (desc.kind) {
    case "message":
      return desc.parent === undefined
        ? [inFile.message, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...locate(desc.parent), inMessage.message, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case "enum":
      return desc.parent === undefined
        ? [inFile.enum, desc.file.proto.enumType.indexOf(desc.proto)]
        : [...locate(desc.parent), inMessage.enum, desc.parent.proto.enumType.indexOf(desc.proto)];
    case "service":
      return [inFile.service, desc.file.proto.service.indexOf(desc.proto)];
    case "field":
      return [...locate(desc.parent), inMessage.field, desc.parent.proto.field.indexOf(desc.proto)];
    case "enum_value":
      return [...locate(desc.parent), enumValue, desc.parent.proto.value.indexOf(desc.proto)];
    case "rpc":
      return [...locate(desc.parent), serviceMethod, desc.parent.proto.method.indexOf(desc.proto)];
  }
}
