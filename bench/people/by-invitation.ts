// People come by invitation: each opens the link, signs in at an OpenID provider of the org, and accepts.
import { openBrowser } from "../../test/sign-in/invitation-place.ts";
import { client, startOpenIdProvider } from "../../test/support/openid-issuers.ts";
import { type Place, inLanes, issuer, openOrg } from "./place.ts";

/** Each with a provider of its own, which says who the one person is that signs in there. */
const lanes = 4;

export async function bringByInvitation(place: Place): Promise<number> {
  const { call, org } = await openOrg(place, "by-invitation");
  const providers = await Promise.all(Array.from({ length: lanes }, (_, lane) => openProvider(lane)));
  let requests = 0;
  await inLanes(lanes, place.people, async (number, lane) => {
    const { openId, linked } = providers[lane] ?? (await openProvider(lane));
    const name = `person-${number}`;
    const email = `${name}@acme.example`;
    const { link = "" } = await call(`${org}/members:invite`, { name, email });
    openId.person = name;
    openId.claims = { email, email_verified: true };
    const browser = openBrowser(place.url);
    await browser.open(link);
    await browser.signIn(linked);
    const { status, text } = await browser.decide("accept");
    if (status !== 303) throw new Error(`${name} could not accept: ${status} ${text}`);
    // The call of the inviter; the link, its form and the page; the sign-in, the way back and the page; and the decision.
    requests += 8;
  });
  for (const { openId } of providers) await openId.close();
  return requests;

  async function openProvider(lane: number) {
    const openId = await startOpenIdProvider();
    const fields = { name: `login-${lane}`, issuer: openId.issuer, client_id: client.id, client_secret: client.secret };
    const { id = "", path = "" } = await call(`${org}/identityProviders`, fields);
    const linked = { id, path, redirectUri: `${issuer}/sign-in/callback/${id}` };
    openId.serve(linked.redirectUri);
    return { openId, linked };
  }
}
