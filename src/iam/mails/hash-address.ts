import { hash } from "node:crypto";
import { foldEmail } from "../../validation/email-address.ts";

/** A hash of an address of an org: links and mails are found by it, and it says nothing of who has an address in another org. */
export const hashAddress = (orgId: string, email: string): Buffer =>
  hash("sha256", `${orgId} ${foldEmail(email)}`, "buffer");
