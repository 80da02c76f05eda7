import { type KeyObject, createHmac, sign } from "node:crypto";

/** What signs a request, by the version of Standard Webhooks. */
export type SigningKey =
  | { readonly kind: "v1"; readonly key: Buffer }
  | { readonly kind: "v1a"; readonly key: KeyObject };

/** Returns a signature as it is in the header `webhook-signature`: `v1,` or `v1a,`, and the rest in base64. */
export function signatureWith(signing: SigningKey, text: string): string {
  switch (signing.kind) {
    case "v1":
      return `v1,${createHmac("sha256", signing.key).update(text).digest("base64")}`;
    case "v1a":
      return `v1a,${sign(null, Buffer.from(text), signing.key).toString("base64")}`;
  }
}
