// The signed heads that a file of changes is checked with: those in it, and those that were kept.
import { type JsonObject, fromJson, toJson } from "@bufbuild/protobuf";
import type { JSONWebKeySet } from "jose";
import { ChangesHeadSchema } from "../../gen/iam/v1alpha/change_pb.ts";
import { canonicalJson } from "../changes/canonical-json.ts";
import { type SignedEnd, readHead } from "../changes/signed-head.ts";
import type { ChainCheck } from "../changes/verify-chain.ts";
import { toShownHead } from "../events/changes/head.ts";
import { readBoundedFile } from "./file/read-bounded-file.ts";
import { ImportError } from "./import-error.ts";
import { count } from "./plural.ts";
import { printable } from "./printable.ts";

const maxBytes = 10 * 1_048_576;

/** Reads a JSON Web Key Set. @throws ImportError */
export async function readKeys(file: string): Promise<JSONWebKeySet> {
  const value = parse((await readBoundedFile(file, maxBytes)).toString());
  const keys = (value as { readonly keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(keys)) throw new ImportError(`${file} is no JSON Web Key Set`);
  return value as JSONWebKeySet;
}

/**
 * Reads what was noted: a hash, or the name of a file with signed heads, as the service answers them, writes them into its log, or in lines
 * of an export.
 *
 * @throws ImportError
 */
export async function readNoted(
  noted: string,
): Promise<{ readonly hash: string } | { readonly heads: readonly string[] }> {
  if (/^[0-9a-f]{64}$/.test(noted)) return { hash: noted };
  const text = (await readBoundedFile(noted, maxBytes)).toString();
  const whole = parse(text);
  const values = whole === undefined ? text.split("\n").map((line) => parse(line) ?? line.trim()) : [whole];
  const heads = values.flatMap((value) => headIn(value) ?? []);
  if (heads.length === 0) throw new ImportError(`${noted} is no hash, and a file without a signed head`);
  return { heads };
}

/** Returns the signed head in what was read from JSON, or was no JSON; undefined if there is none. */
export function headIn(value: unknown): string | undefined {
  if (typeof value === "string") return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { jws, head } = value as { readonly jws?: unknown; readonly head?: unknown };
  return headIn(jws ?? head);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks that a line shows what its head says, and nothing else. @throws Error */
function requireShown(line: JsonObject, jws: string, end: SignedEnd): void {
  const { head = line } = line;
  const [stray] = head === line ? [] : Object.keys(line).filter((name) => name !== "head");
  if (stray !== undefined) throw new Error(`the line has ${stray} beside it`);
  if (typeof head !== "object" || head === null || Array.isArray(head)) return;
  const shown = toJson(ChangesHeadSchema, fromJson(ChangesHeadSchema, head)) as JsonObject;
  const said = toJson(ChangesHeadSchema, toShownHead(end, jws)) as JsonObject;
  const wrong = Object.keys(shown).find((name) => canonicalJson(shown[name]) !== canonicalJson(said[name]));
  if (wrong !== undefined) throw new Error(`the line shows another ${wrong} than it says`);
}

interface HeadCheck {
  /** Takes a signed head. Returns what is wrong with it. @param line what it was found in, if what that shows is to be the same. */
  readonly take: (jws: string, line?: JsonObject) => Promise<string | undefined>;
  /** Prints what the signed heads say about the changes that were checked. Returns how many say something else. */
  readonly report: (print: (line: string) => void) => number;
}

/** @param keys undefined if signatures are not to be checked. */
export function checkHeads(chains: ChainCheck, keys: JSONWebKeySet | undefined): HeadCheck {
  const taken: SignedEnd[] = [];
  return {
    async take(jws, line) {
      try {
        const head = await readHead(jws, keys);
        if (line !== undefined) requireShown(line, jws, head);
        taken.push(head);
        chains.note(head);
        return undefined;
      } catch (error) {
        return `a signed head cannot be used: ${error instanceof Error ? printable(error.message) : "it is damaged"}`;
      }
    },
    report(print) {
      const [right, wrong] = [
        taken.filter(({ hash }) => chains.isProved(hash)),
        taken.filter(({ hash }) => !chains.isProved(hash)),
      ];
      for (const { logId, revision, time } of wrong) {
        print(
          `${printable(logId)}: the head of ${printable(revision)} of ${printable(time)} is that of no change that follows another in the file: some were cut off or replaced, or it is the first`,
        );
      }
      if (keys === undefined) {
        if (taken.length > 0)
          print(`${count(taken.length, "head")} whose signatures were not checked: that needs --keys`);
        return wrong.length;
      }
      for (const { logId, revision, time, issuer } of new Map(right.map((head) => [head.logId, head])).values()) {
        print(
          `${printable(logId)} is signed up to ${printable(revision)} of ${printable(time)} by ${printable(issuer)}`,
        );
      }
      if (taken.length === 0) print("no signed head: changes that were cut off at the end do not show");
      return wrong.length;
    },
  };
}
