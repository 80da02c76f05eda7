// What the screens about event streams say. They load it; the first page does not.
import type { EventStream_SubjectFormat } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { NamesOf } from "./enum-words.ts";

const caep = "https://schemas.openid.net/secevent/caep/event-type/";
const risc = "https://schemas.openid.net/secevent/risc/event-type/";

export const streamTexts = {
  title: "Event streams",
  one: "Event stream",
  intro:
    "Each tells a receiver, such as a gateway, what ends sessions, tokens and keys here: by the Shared Signals Framework of OpenID.",
  search: "Search event streams",
  none: "There are no event streams yet.",
  noneHint: "Create one for a receiver. It is told what ends from then on.",
  noneFound: "No event stream has these words.",
  create: "New event stream",
  createIntro: "It delivers for you, for as long as you may list the changes here.",
  audience: "Audience",
  audienceHint: "What the receiver calls itself, such as https://gateway.example.com.",
  how: "How",
  push: "Sent to",
  poll: "Polled by the receiver",
  pollAt: "The receiver polls, with a credential that may iam.eventStreams.poll, at",
  copyAddress: "Copy the address",
  pushUrl: "Send to",
  pushUrlHint: "Such as https://gateway.example.com/events. Empty: the receiver polls.",
  authorization: "Authorization header",
  authorizationHint: "What the receiver expects there, such as Bearer c2VjcmV0. It is never shown again.",
  authorizationKept: "Empty: as before, unless the URL changes.",
  eventTypes: "Only these events",
  eventTypesHint: "None chosen: all.",
  events: "Events",
  allEvents: "All",
  /** By the URIs of the types, which the service supports. */
  eventTypeWords: {
    [`${caep}session-revoked`]: "Sessions and tokens end",
    [`${caep}credential-change`]: "Keys, secrets and sign-ins change",
    [`${risc}account-disabled`]: "Members or the organisation lose access",
    [`${risc}account-enabled`]: "Members or the organisation get it back",
    [`${risc}account-purged`]: "Members are purged",
  } as Readonly<Record<string, string>>,
  subjects: "Subjects",
  subjectFormats: {
    ISS_SUB: "The member alone: what all receivers understand",
    COMPLEX: "The member, its session, client and organisation",
  } satisfies Record<NamesOf<typeof EventStream_SubjectFormat>, string>,
  receiver: "Receiver",
  noProblem: "No problem",
  failingSince: "Fails since",
  tried: (attempts: number) => `after ${attempts} tries`,
  lastProblem: "Last problem",
  verify: "Send a verification event",
  verifyIntro: "It is sent before anything else that waits, so the receiver shows whether it gets and accepts events.",
  verifyState: "State",
  verifyStateHint: "By which the receiver recognises the event. May be empty.",
  verifySubmit: "Send",
  asked: "The verification event waits for the receiver. Its jti is",
  pauseIntro: "Nothing is sent, and nothing is polled, until it is resumed. It goes on then where it was.",
  deleteIntro: "Nothing more is sent. The receiver hears nothing of what ends from now on.",
};
