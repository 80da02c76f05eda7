import { hash } from "node:crypto";
import { foldEmail } from "../../validation/email-address.ts";

/** A hash of an address of an org or a customer: links and mails are found by it, and it says nothing of who has an address elsewhere. */
export const hashAddress = (parentId: string, email: string): Buffer =>
  hash("sha256", `${parentId} ${foldEmail(email)}`, "buffer");
