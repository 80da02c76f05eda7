// Which claims can say who somebody is: one that never changes, and that nobody else has or ever gets (OpenID Connect Core, 5.7).
import type { IdentityProvider } from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { invalidField } from "../../errors/service-error.ts";

/**
 * The claims of the registry "JSON Web Token Claims" of IANA (https://www.iana.org/assignments/jwt/jwt.xhtml) that ID tokens have: of RFC 7519 and
 * its extensions, of OpenID Connect, and of SCIM. They say when and for whom a token is, of which tenant or session, or what a person is called,
 * reached by and given: of all of them, `sub` alone says who it is.
 */
const registered = [
  "iss aud exp nbf iat jti typ",
  "azp nonce auth_time at_hash c_hash s_hash acr amr sid sub_jwk sub_id cnf events toe txn",
  "act may_act scope client_id client_instance htm htu ath rsc",
  "name given_name family_name middle_name nickname preferred_username profile picture website gender birthdate zoneinfo locale updated_at",
  "email email_verified phone_number phone_number_verified address also_known_as msisdn birth_family_name birth_given_name birth_middle_name",
  "place_of_birth nationalities title salutation",
  "roles groups entitlements verified_claims vot vtm attest orig dest opt mky rph rcd div vc vp",
  "_claim_names _claim_sources authorization_details sip_from_tag sip_date sip_callid sip_cseq_num sip_via_branch jcard at_use_nbr sph",
];

/** What providers call the same: addresses and names that people change or inherit, tenants that they share, and sessions and tokens that end. */
const customary = [
  "mail mails emails email_address alternate_email secondary_email other_mails verified_primary_email verified_secondary_email smtp_address",
  "phone mobile mobile_phone telephone_number",
  "username user login login_name login_hint account_name sam_account_name windows_account_name on_prem_sam_account_name handle alias",
  "upn unique_name user_principal_name principal_name spn netbios_name",
  "first_name last_name forename surname sn cn common_name dn distinguished_name display_name full_name formatted_name initials",
  "tid tenant tenant_id tenant_name hd hosted_domain domain org org_id org_name organization organization_id organisation organisation_id",
  "company company_name department realm team_id workspace_id idp identity_provider issuer client app_id app_id_acr",
  "session session_id session_state session_index uti rh aio ver ip ip_addr ip_address in_corp pwd_exp xms_st event_id origin_jti token_use",
  "tenant_ctry tenant_region_scope acct xms_pl xms_tpl xms_cc xms_edov acrs fwd hasgroups",
  "role group wids resource_access realm_access permissions country city ctry language preferred_language birthday age",
];

/** The form in which claims are compared: without the case, without what separates words, and without the namespace of a claim that is a URI. */
function plain(claim: string): string {
  const local = claim.slice(Math.max(...["/", "#", ":"].map((separator) => claim.lastIndexOf(separator))) + 1);
  return local.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

const unfit: ReadonlySet<string> = new Set([...registered, ...customary].flatMap((line) => line.split(" ").map(plain)));

/** @throws ServiceError FIELD_INVALID for a claim that does not say who somebody is for good. */
export function requireStableSubject({ subjectClaim }: Pick<IdentityProvider, "subjectClaim">): void {
  if (!unfit.has(plain(subjectClaim))) return;
  const rule = `must be empty for sub, or a claim that never changes and that nobody else has or ever gets, such as oid: ${subjectClaim} does not say who somebody is for good`;
  throw invalidField("identity_provider.subject_claim", rule, "subject_claim");
}
