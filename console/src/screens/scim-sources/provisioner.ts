import { usualGrantName } from "../grants/usual-grant-name.ts";

/** What the application of a SCIM source needs on its org. */
export const provisionPermission = "iam.scimSources.provision";

const provisionerRole = "/roles/provisioner";

/** Returns the grant that gives it to an application. */
export const provisionerGrant = (memberPath: string) => ({
  name: usualGrantName(memberPath, provisionerRole),
  subjectPath: memberPath,
  rolePath: provisionerRole,
});
